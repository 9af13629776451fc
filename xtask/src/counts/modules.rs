//! Modules of one crate as a tree of files, and the files that each file imports from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::items::Items;

/// Longest chain of re-exports that is followed.
const CHAIN_MAX: usize = 16;

/// Files of one crate, reached from its root file by `mod` declarations; modules for tests are not reached.
#[derive(Debug)]
pub(super) struct Modules<'a> {
    /// The root first, every parent before its children.
    modules: Vec<Module<'a>>,
}

/// One file of a crate.
#[derive(Debug)]
struct Module<'a> {
    file: &'a Path,
    items: &'a Items,
    parent: Option<usize>,
    children: BTreeMap<&'a str, usize>,
}

impl<'a> Modules<'a> {
    /// Reads the crate whose root file is `root`. Declared modules without a file in `files` are left out.
    pub(super) fn of(root: &'a Path, files: &'a BTreeMap<PathBuf, Items>) -> Self {
        let mut tree = Self {
            modules: Vec::new(),
        };
        if let Some((file, items)) = files.get_key_value(root) {
            let folder = root.parent().unwrap_or(root);
            tree.add(file, items, folder, None, files);
        }
        tree
    }

    /// Adds a file and its submodules, whose files stand in `folder`. Returns its index.
    fn add(
        &mut self,
        file: &'a Path,
        items: &'a Items,
        folder: &Path,
        parent: Option<usize>,
        files: &'a BTreeMap<PathBuf, Items>,
    ) -> usize {
        let index = self.modules.len();
        self.modules.push(Module {
            file,
            items,
            parent,
            children: BTreeMap::new(),
        });
        for name in &items.modules {
            let inner = folder.join(name);
            let candidates = [inner.with_extension("rs"), inner.join("mod.rs")];
            let found = candidates.iter().find_map(|path| files.get_key_value(path));
            if let Some((file, items)) = found {
                let child = self.add(file, items, &inner, Some(index), files);
                self.modules[index].children.insert(name, child);
            }
        }
        index
    }

    /// Returns the file of a module.
    pub(super) fn file(&self, module: usize) -> &'a Path {
        self.modules[module].file
    }

    /// Returns for each module the modules that it imports from, re-exports followed to the definition.
    /// Imports between a module and one inside it are left out: they follow from nesting.
    pub(super) fn imports(&self) -> Vec<BTreeSet<usize>> {
        let of_one = |(from, module): (usize, &Module<'_>)| {
            let imports = module.items.imports.iter();
            imports
                .filter_map(|import| self.resolve(from, &import.path, 0))
                .filter(|to| !self.is_inside(from, *to) && !self.is_inside(*to, from))
                .collect()
        };
        self.modules.iter().enumerate().map(of_one).collect()
    }

    /// Whether `inner` is `outer`, or a module somewhere inside it.
    fn is_inside(&self, inner: usize, outer: usize) -> bool {
        let parents = |module: &usize| self.modules[*module].parent;
        std::iter::successors(Some(inner), parents).any(|module| module == outer)
    }

    /// Returns the module whose file defines what a path in `from` names; `None` if another crate does.
    fn resolve(&self, from: usize, path: &[String], chain: usize) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.walk(0, rest, chain),
            "self" => self.walk(from, rest, chain),
            "super" => {
                let mut module = self.modules[from].parent?;
                let mut rest = rest;
                while rest.first().is_some_and(|segment| segment == "super") {
                    module = self.modules[module].parent?;
                    rest = &rest[1..];
                }
                self.walk(module, rest, chain)
            }
            name => {
                let module = &self.modules[from];
                let child = *module.children.get(name)?;
                self.walk(child, rest, chain)
            }
        }
    }

    /// Follows the segments of a path from a module on.
    fn walk(&self, from: usize, path: &[String], chain: usize) -> Option<usize> {
        let module = &self.modules[from];
        let Some((first, rest)) = path.split_first() else {
            return Some(from);
        };
        if let Some(child) = module.children.get(first.as_str()) {
            return self.walk(*child, rest, chain);
        }
        if chain == CHAIN_MAX || module.items.defined.contains(first) {
            return Some(from);
        }
        let imports = &module.items.imports;
        if let Some(import) = imports
            .iter()
            .find(|import| import.name.as_ref() == Some(first))
        {
            let whole: Vec<String> = import.path.iter().chain(rest).cloned().collect();
            return self.resolve(from, &whole, chain + 1).or(Some(from));
        }
        let globs = imports.iter().filter(|import| import.name.is_none());
        let mut targets = globs.filter_map(|glob| self.resolve(from, &glob.path, chain + 1));
        match targets.find(|target| *target != from && self.has(*target, first)) {
            Some(target) => self.walk(target, path, chain + 1),
            // A macro, or an item of a module inside this file.
            None => Some(from),
        }
    }

    /// Whether a module declares, defines or imports a name.
    fn has(&self, module: usize, name: &String) -> bool {
        let module = &self.modules[module];
        module.children.contains_key(name.as_str())
            || module.items.defined.contains(name)
            || module
                .items
                .imports
                .iter()
                .any(|import| import.name.as_ref() == Some(name))
    }
}

/// Whether a file is the root of a library or of a program.
pub(super) fn is_root(path: &Path) -> bool {
    let mut after = path.iter().skip_while(|part| *part != "src").skip(1);
    let parts = [after.next(), after.next(), after.next(), after.next()];
    match parts.map(|part| part.and_then(|part| part.to_str())) {
        [Some("lib.rs" | "main.rs"), None, ..] => true,
        [Some("bin"), Some(name), None, _] => name.ends_with(".rs"),
        [Some("bin"), Some(_), Some("main.rs"), None] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
