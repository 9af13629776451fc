//! A tree over time as SVG: each node is placed at the time it was reached, and joined to the node it was reached
//! from.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};

use super::super::escape::Escaped;
use super::LINE;
use super::scale::AxisScale;

/// Width of the drawing, which is as wide as the page.
const WIDTH: f64 = 1_000.0;
/// Margins left and right of the tree.
const MARGIN: f64 = 24.0;
/// Least and largest height of the tree, and height of a row between them.
const MIN_HEIGHT: f64 = 240.0;
const MAX_HEIGHT: f64 = 900.0;
const ROW: f64 = 9.0;
/// Preferred number of ticks.
const TICKS: usize = 10;
/// Number of hues in `style.css`.
const HUES: usize = 6;

/// One node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct TreeNode {
    pub(in super::super) latency_ms: f64,
    pub(in super::super) hops: u16,
    /// Position across, in rows.
    pub(in super::super) row: f64,
    /// Index of the node before it; `None` for the root.
    pub(in super::super) parent: Option<usize>,
}

/// Tree, and the number of rows that its leaves take.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct DeliveryTree {
    pub(in super::super) title: String,
    pub(in super::super) nodes: Vec<TreeNode>,
    pub(in super::super) rows: usize,
}

/// Renders a tree as SVG.
pub(in super::super) struct TreeDrawing<'a> {
    pub(in super::super) tree: &'a DeliveryTree,
    /// Id of the drawing, unique in the page.
    pub(in super::super) id: &'a str,
}

impl Display for TreeDrawing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tree, id } = self;
        let last = tree
            .nodes
            .iter()
            .map(|node| node.latency_ms)
            .fold(0.0, f64::max);
        let x = AxisScale::new((0.0, last), false).placed(MARGIN, WIDTH - MARGIN);
        let height = (tree.rows as f64 * ROW).clamp(MIN_HEIGHT, MAX_HEIGHT);
        let rows = tree.rows.saturating_sub(1).max(1) as f64;
        let place = |node: &TreeNode| {
            let across = x.place(node.latency_ms).unwrap_or(MARGIN);
            (across, 8.0 + node.row / rows * (height - 16.0))
        };
        let title = Escaped(&tree.title);
        let most = tree.nodes.iter().map(|node| node.hops).max().unwrap_or(0);
        write!(
            f,
            "<figure class=\"tree chart\">\n<figcaption>{title}</figcaption>\n<ul class=\"legend\">"
        )?;
        for hops in 1..=most {
            write!(
                f,
                "<li><svg viewBox=\"0 0 36 14\" aria-hidden=\"true\"><path class=\"line s ours h{}\" d=\"M2 7H34\"/></svg>\
                 {hops} {}</li>",
                hue(hops),
                if hops == 1 { "hop" } else { "hops" }
            )?;
        }
        write!(
            f,
            "</ul>\n<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-labelledby=\"{id}-t\">\n\
             <title id=\"{id}-t\">{title}</title>\n",
            height + 2.0 * LINE + 16.0
        )?;
        for tick in x.ticks(TICKS, |_| true) {
            let at = x.place(tick.value).unwrap_or(MARGIN);
            writeln!(
                f,
                "<path class=\"grid\" d=\"M{at:.1} 0V{height:.1}\"/><text class=\"tick middle\" x=\"{at:.1}\" y=\"{:.1}\">\
                 {}</text>",
                height + LINE - 4.0,
                Escaped(&tick.label)
            )?;
        }
        writeln!(
            f,
            "<text class=\"axis middle\" x=\"{:.1}\" y=\"{:.1}\">latency, ms</text>",
            WIDTH / 2.0,
            height + 2.0 * LINE
        )?;
        // One path for each number of hops, because a page of a thousand elements is slow.
        let mut paths: BTreeMap<u16, String> = BTreeMap::new();
        for node in &tree.nodes {
            let Some(parent) = node.parent.and_then(|parent| tree.nodes.get(parent)) else {
                continue;
            };
            let ((x0, y0), (x1, y1)) = (place(parent), place(node));
            let bend = x0 + (x1 - x0) * 0.5;
            let path = paths.entry(node.hops).or_default();
            write!(
                path,
                "M{x0:.1} {y0:.1}C{bend:.1} {y0:.1} {bend:.1} {y1:.1} {x1:.1} {y1:.1}"
            )?;
        }
        for (hops, path) in paths {
            writeln!(
                f,
                "<path class=\"branch s ours h{}\" d=\"{path}\"/>",
                hue(hops)
            )?;
        }
        if let Some(root) = tree.nodes.first() {
            let (x, y) = place(root);
            writeln!(
                f,
                "<circle class=\"root\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>"
            )?;
        }
        f.write_str("</svg>\n</figure>\n")
    }
}

fn hue(hops: u16) -> usize {
    (usize::from(hops) + HUES - 1) % HUES
}
