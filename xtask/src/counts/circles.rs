//! Circles of imports: groups of files of which each reaches every other one through imports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::items::Items;
use super::modules::{Modules, is_root};

/// Returns the circles of all crates, the files of each in alphabetical order.
pub(super) fn circles(files: &BTreeMap<PathBuf, Items>) -> Vec<Vec<PathBuf>> {
    let mut circles = Vec::new();
    for root in files.keys().filter(|path| is_root(path)) {
        let modules = Modules::of(root, files);
        for group in components(&modules.imports()) {
            let files = group.into_iter().map(|module| modules.file(module));
            let mut files: Vec<_> = files.map(ToOwned::to_owned).collect();
            files.sort();
            circles.push(files);
        }
    }
    circles
}

/// Returns the strongly connected components that have more than one node.
fn components(edges: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let reached: Vec<_> = (0..edges.len()).map(|from| reach(edges, from)).collect();
    let mut is_taken = vec![false; edges.len()];
    let mut groups = Vec::new();
    for from in 0..edges.len() {
        if is_taken[from] {
            continue;
        }
        let is_mutual = |to: &usize| reached[from].contains(to) && reached[*to].contains(&from);
        let group: Vec<usize> = (0..edges.len())
            .filter(|to| *to == from || is_mutual(to))
            .collect();
        for node in &group {
            is_taken[*node] = true;
        }
        if group.len() > 1 {
            groups.push(group);
        }
    }
    groups
}

/// Returns the nodes that can be reached by at least one edge.
fn reach(edges: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        open.extend(edges[node].iter().filter(|to| reached.insert(**to)));
    }
    reached
}

#[cfg(test)]
mod tests;
