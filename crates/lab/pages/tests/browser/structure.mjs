// Screenshots reduced to where there is how much ink. Of a page, so that fonts do not matter and lost
// parts do; of charts without their letters closer, so that a lost series does.

import { PNG } from "pngjs";

// A cell of a page is so many pixels wide and high, about a line and a half of text; one of a chart.
const CELL = 24;
const CHART_CELL = 10;
// Of 255. A cell in another font differs by less; one that has lost a chart's bar or a red row's
// paper does not.
const TOLERANCE = 26;
// Text that breaks elsewhere moves what is below by a line. A cell may look like one that is so many
// rows further up or down.
const DRIFT = 8;
// The share of cells that may look like none of those.
const ODD = 0.01;
// The share of a page's height by which it may grow or shrink.
const HEIGHT = 0.06;

// The same for charts, where each cell is compared with itself alone: only how browsers smooth lines
// may differ.
const CHART_TOLERANCE = 12;
const CHART_ODD = 0.002;

/** The mean colour of each cell of a page, as a PNG. */
export function shrink(png) {
  return PNG.sync.write(cells(png, CELL));
}

/** The mean colours of charts, one below another. */
export function shrinkCharts(pngs) {
  const charts = pngs.map((png) => cells(png, CHART_CELL));
  const width = Math.max(...charts.map((chart) => chart.width));
  const all = new PNG({ width, height: charts.reduce((sum, chart) => sum + chart.height, 0) });
  let top = 0;
  for (const chart of charts) {
    PNG.bitblt(chart, all, 0, 0, chart.width, chart.height, 0, top);
    top += chart.height;
  }
  return PNG.sync.write(all);
}

function cells(png, cell) {
  const { width, height, data } = PNG.sync.read(png);
  const small = new PNG({ width: Math.ceil(width / cell), height: Math.ceil(height / cell) });
  for (let row = 0; row < small.height; row++) {
    for (let column = 0; column < small.width; column++) {
      const sums = [0, 0, 0];
      let count = 0;
      for (let y = row * cell; y < Math.min(height, (row + 1) * cell); y++) {
        for (let x = column * cell; x < Math.min(width, (column + 1) * cell); x++) {
          for (const part of [0, 1, 2]) sums[part] += data[(y * width + x) * 4 + part];
          count++;
        }
      }
      const at = (row * small.width + column) * 4;
      for (const part of [0, 1, 2]) small.data[at + part] = Math.round(sums[part] / count);
      small.data[at + 3] = 255;
    }
  }
  return small;
}

/** What differs in charts. */
export function compareCharts(expectedPng, foundPng) {
  const [expected, found] = [expectedPng, foundPng].map((png) => PNG.sync.read(png));
  const sizes = [expected, found].map(({ width, height }) => `${width} by ${height}`);
  if (sizes[0] !== sizes[1]) return [`charts of ${sizes[1]} cells, not ${sizes[0]}`];
  const odd = [];
  for (let y = 0; y < found.height; y++) {
    for (let x = 0; x < found.width; x++) {
      const at = (y * found.width + x) * 4;
      if (differs(expected, at, found, at, CHART_TOLERANCE)) odd.push([x, y]);
    }
  }
  const most = Math.floor(CHART_ODD * found.width * found.height);
  if (odd.length <= most) return [];
  const [x, y] = odd[Math.floor(odd.length / 2)];
  return [`${odd.length} cells of charts differ, at most ${most}; one of them is at ${x}, ${y}`];
}

/** What differs in a page by more than a font does. */
export function compare(expectedPng, foundPng) {
  const [expected, found] = [expectedPng, foundPng].map((png) => PNG.sync.read(png));
  if (expected.width !== found.width) return [`${found.width} cells wide, not ${expected.width}`];
  const growth = Math.abs(found.height - expected.height) / expected.height;
  if (growth > HEIGHT) return [`${found.height} cells high, expected about ${expected.height}`];
  const lost = odd(expected, found);
  const added = odd(found, expected);
  const most = ODD * expected.width * expected.height;
  return [
    ["lost or moved", lost],
    ["new", added],
  ]
    .filter(([, cells]) => cells.length > most)
    .map(([what, cells]) => {
      const [x, y] = cells[Math.floor(cells.length / 2)];
      return (
        `${cells.length} cells of ${CELL} pixels ${what}, at most ${Math.floor(most)}; ` +
        `one of them is at ${x * CELL}, ${y * CELL}`
      );
    });
}

/** Cells of `one` that look like no cell of `other` near the same place. */
function odd(one, other) {
  const cells = [];
  for (let y = 0; y < one.height; y++) {
    for (let x = 0; x < one.width; x++) {
      if (!isNear(one, other, x, y)) cells.push([x, y]);
    }
  }
  return cells;
}

function isNear(one, other, x, y) {
  for (let row = Math.max(0, y - DRIFT); row <= Math.min(other.height - 1, y + DRIFT); row++) {
    const [a, b] = [(y * one.width + x) * 4, (row * other.width + x) * 4];
    if (!differs(one, a, other, b, TOLERANCE)) return true;
  }
  return false;
}

function differs(one, a, other, b, tolerance) {
  return [0, 1, 2].some((part) => Math.abs(one.data[a + part] - other.data[b + part]) > tolerance);
}
