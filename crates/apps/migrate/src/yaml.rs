//! YAML with line numbers and merge keys, within limits: turns events of `saphyr-parser` into a tree.
//!
//! Scalars keep the text they have in the file. The content of an alias is shared, not copied, so that aliases of
//! aliases cost nothing.

use std::collections::BTreeMap;
use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScanError};
use thiserror::Error;

/// Maximum number of nodes in a file, counting those repeated by merge keys.
const MAX_NODES: usize = 1 << 15;

/// Maximum nesting, also through aliases. Dropping a tree takes stack space for each level.
const MAX_DEPTH: usize = 64;

/// A YAML map: its keys, which are texts, with their values, including merged ones.
pub type YamlMap = BTreeMap<Rc<str>, Rc<YamlNode>>;

/// Part of a YAML file.
pub struct YamlNode {
    /// First line, from 1.
    pub line: usize,
    /// Value of the node.
    pub value: YamlValue,
    height: usize,
}

/// Value of a YAML node.
#[derive(Clone)]
pub enum YamlValue {
    /// A scalar, as its text; an absent value is an empty text.
    Text(String),
    /// A list.
    List(Vec<Rc<YamlNode>>),
    /// A map.
    Map(YamlMap),
}

/// Part of a YAML file that is malformed, unexpected or beyond a limit.
#[derive(Debug, Error)]
#[error("line {line}: {what}")]
pub struct YamlFault {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

impl YamlNode {
    /// Parses a text with a single document.
    ///
    /// # Errors
    ///
    /// The first fault of the text: a syntax error, a key that is repeated or not a text, an anchor that contains
    /// itself, a merge of anything other than maps, or too many nodes or levels.
    pub fn read(text: &str) -> Result<Rc<Self>, YamlFault> {
        let mut tree = YamlTree::default();
        for event in Parser::new_from_str(text) {
            let wrong = |error: ScanError| fault(error.marker().line(), error.info().to_owned());
            let (event, span) = event.map_err(wrong)?;
            tree.take(event, span.start.line())?;
        }
        tree.root
            .ok_or_else(|| fault(1, "the file is empty".to_owned()))
    }

    fn new(line: usize, value: YamlValue) -> Result<Rc<Self>, YamlFault> {
        let highest = match &value {
            YamlValue::Text(_) => None,
            YamlValue::List(items) => items.iter().map(|item| item.height).max(),
            YamlValue::Map(map) => map.values().map(|item| item.height).max(),
        };
        let height = highest.map_or(0, |height| height + 1);
        if height > MAX_DEPTH {
            let what = format!("more than {MAX_DEPTH} lists and maps in each other");
            return Err(fault(line, what));
        }
        let node = Self {
            line,
            value,
            height,
        };
        Ok(Rc::new(node))
    }

    /// Returns the value of a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            YamlValue::Map(map) => map.get(key).map(Rc::as_ref),
            _ => None,
        }
    }

    /// Returns the text of a scalar.
    ///
    /// # Errors
    ///
    /// A fault if it is a list or a map.
    pub fn text(&self) -> Result<&str, YamlFault> {
        match &self.value {
            YamlValue::Text(text) => Ok(text),
            _ => Err(fault(self.line, "no text, but a list or map".to_owned())),
        }
    }
}

fn fault(line: usize, what: String) -> YamlFault {
    YamlFault { line, what }
}

#[derive(Default)]
struct YamlTree {
    /// Lists and maps that are still open: anchor, line, items. The items of a map are its keys and values in turn.
    open: Vec<(usize, usize, Vec<Rc<YamlNode>>)>,
    anchors: BTreeMap<usize, Rc<YamlNode>>,
    nodes: usize,
    root: Option<Rc<YamlNode>>,
}

impl YamlTree {
    fn take(&mut self, event: Event<'_>, line: usize) -> Result<(), YamlFault> {
        let is_map = event == Event::MappingEnd;
        let (anchor, node) = match event {
            Event::DocumentStart(_) if self.root.is_some() => {
                return Err(fault(line, "a second document".to_owned()));
            }
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                self.open.push((anchor, line, Vec::new()));
                return Ok(());
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let open = self.open.pop();
                let (anchor, line, items) = open.expect("the parser ends only what it began");
                let value = match is_map {
                    true => YamlValue::Map(self.map(&items)?),
                    false => YamlValue::List(items),
                };
                (anchor, YamlNode::new(line, value)?)
            }
            Event::Scalar(text, _, anchor, _) => {
                let value = YamlValue::Text(text.into_owned());
                (anchor, YamlNode::new(line, value)?)
            }
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned();
                let what = "an alias of the anchor around it";
                (0, node.ok_or_else(|| fault(line, what.to_owned()))?)
            }
            _ => return Ok(()),
        };
        self.count(1, line)?;
        if anchor > 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        match self.open.last_mut() {
            Some((_, _, items)) => items.push(node),
            None => self.root = Some(node),
        }
        Ok(())
    }

    fn count(&mut self, more: usize, line: usize) -> Result<(), YamlFault> {
        self.nodes += more;
        match self.nodes > MAX_NODES {
            true => Err(fault(line, format!("more than {MAX_NODES} nodes"))),
            false => Ok(()),
        }
    }

    /// Builds a map from alternating keys and values. Maps under the key `<<` supply missing keys; earlier ones
    /// take precedence.
    fn map(&mut self, items: &[Rc<YamlNode>]) -> Result<YamlMap, YamlFault> {
        let mut map = YamlMap::new();
        let mut merge_line = 0;
        for pair in items.chunks_exact(2) {
            let (key, line) = (pair[0].text()?, pair[0].line);
            if map.insert(key.into(), Rc::clone(&pair[1])).is_some() {
                return Err(fault(line, "a key for the second time".to_owned()));
            }
            if key == "<<" {
                merge_line = line;
            }
        }
        let Some(merged) = map.remove("<<") else {
            return Ok(map);
        };
        let merged = match &merged.value {
            YamlValue::List(merged) => merged.as_slice(),
            _ => std::slice::from_ref(&merged),
        };
        for node in merged {
            let YamlValue::Map(more) = &node.value else {
                return Err(fault(merge_line, "<< merges what is no map".to_owned()));
            };
            self.count(more.len(), merge_line)?;
            for (key, value) in more {
                map.entry(Rc::clone(key))
                    .or_insert_with(|| Rc::clone(value));
            }
        }
        Ok(map)
    }
}
