// What can be seen to be wrong from inside the page. Runs there, so it uses nothing from outside.

/** A line for each finding. */
export function inspect() {
  const findings = [];
  const name = (element) => {
    const text = element.textContent.trim().replace(/\s+/g, " ").slice(0, 40);
    return `<${element.tagName.toLowerCase()}> "${text}"`;
  };
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const isPrint = window.matchMedia("print").matches;

  // Nothing is wider than the page, except what can be scrolled.
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) findings.push("the page scrolls sideways");
  for (const element of all("body *")) {
    if (!isPrint && element.closest(".scroll") && !element.matches(".scroll")) continue;
    const box = element.getBoundingClientRect();
    if (box.right > width + 1 || box.left < -1) findings.push(`${name(element)} is outside the page`);
  }

  // Every section has its charts, and each of them its words.
  for (const chart of all("figure.chart")) {
    const svg = chart.querySelector(":scope > svg");
    const box = svg.getBoundingClientRect();
    if (box.width < 200 || box.height < 100) findings.push(`${name(chart)} is not shown`);
    const named = svg.getAttribute("aria-labelledby").split(" ");
    if (named.some((id) => !document.getElementById(id)?.textContent)) {
      findings.push(`${name(chart)} has no description`);
    }
    const drawn = all(".s", svg).length > 0 || /no values/.test(svg.textContent);
    if (!drawn) findings.push(`${name(chart)} has no data`);

    // No text lies on other text, or leaves the drawing.
    const corners = (text) => {
      const { x, y, width, height } = text.getBBox();
      const matrix = text.getCTM();
      return [
        [x, y],
        [x + width, y],
        [x + width, y + height],
        [x, y + height],
      ].map(([x, y]) => new DOMPoint(x, y).matrixTransform(matrix));
    };
    const texts = all("text", svg).map((text) => ({ text, corners: corners(text) }));
    // Boxes are turned where words are slanted: they are apart if a line along one of their sides
    // has them on different sides.
    const isApart = (one, other) =>
      [one, other].some((box) =>
        [0, 1].some((side) => {
          const [dx, dy] = [box[side + 1].x - box[side].x, box[side + 1].y - box[side].y];
          const length = Math.hypot(dx, dy);
          const along = (corners) => corners.map((p) => (p.x * dx + p.y * dy) / length);
          const [a, b] = [along(one), along(other)];
          return Math.max(...a) < Math.min(...b) + 1 || Math.max(...b) < Math.min(...a) + 1;
        }),
      );
    texts.forEach((one, number) => {
      for (const other of texts.slice(number + 1)) {
        if (!isApart(one.corners, other.corners)) {
          findings.push(`${name(one.text)} lies on ${name(other.text)} in ${name(chart)}`);
        }
      }
      const [view, frame] = [one.text.getBoundingClientRect(), box];
      const inside =
        view.left >= frame.left - 1 &&
        view.right <= frame.right + 1 &&
        view.top >= frame.top - 1 &&
        view.bottom <= frame.bottom + 1;
      if (!inside) findings.push(`${name(one.text)} leaves ${name(chart)}`);
    });
    const legend = all(".legend li", chart).map((item) => item.getBoundingClientRect());
    legend.forEach((one, number) => {
      for (const other of legend.slice(number + 1)) {
        const apart =
          one.right <= other.left + 1 ||
          other.right <= one.left + 1 ||
          one.bottom <= other.top + 1 ||
          other.bottom <= one.top + 1;
        if (!apart) findings.push(`entries of the legend of ${name(chart)} overlap`);
      }
    });
  }

  // Text can be read: a contrast of 4.5 (WCAG 2.2, 1.4.3), lines and marks 3 (1.4.11).
  const parse = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [dark, bright] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  const paper = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, alpha = 1] = parse(getComputedStyle(at).backgroundColor);
      if (alpha === 1 && r !== undefined) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const poor = new Set();
  for (const element of all("body *")) {
    const style = getComputedStyle(element);
    const inSvg = element instanceof SVGElement;
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const checks = [];
    if (hasText && !inSvg) checks.push([style.color, 4.5]);
    if (element.tagName === "text") checks.push([style.fill, 4.5]);
    if (element.matches(".line, .whisker")) checks.push([style.stroke, 3]);
    for (const [colour, least] of checks) {
      const ratio = contrast(parse(colour).slice(0, 3), paper(element));
      if (ratio < least) poor.add(`contrast ${ratio.toFixed(2)} of ${colour}, as in ${name(element)}`);
    }
  }
  findings.push(...poor);

  // What differs is red, in both themes, and has its reason below it.
  const reasons = all("tr.why");
  if (reasons.length === 0) findings.push("no figure differs; the records are made to have one");
  for (const reason of reasons) {
    const verdict = reason.previousElementSibling.querySelector("strong");
    const [red, green, blue] = parse(getComputedStyle(verdict ?? reason).color);
    if (verdict?.textContent !== "differs") findings.push(`${name(reason)} stands alone`);
    if (red < 1.4 * Math.max(green, blue)) findings.push(`the verdict above ${name(reason)} is not red`);
  }

  // Paper does not scroll, and has no dark ink beneath it.
  if (isPrint) {
    if (luminance(paper(document.body)) < 0.9) findings.push("the paper is dark");
    for (const element of all(".scroll")) {
      if (element.scrollHeight > element.clientHeight + 1) findings.push(`${name(element)} is cut`);
      if (element.scrollWidth > element.clientWidth + 1) findings.push(`${name(element)} is too wide`);
    }
  }
  if (all("section").length === 0) findings.push("there is no section");
  return findings;
}
