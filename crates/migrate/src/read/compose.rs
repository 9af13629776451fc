//! Flags in a compose file: `command` and `environment` of the reference node's service.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::words::{expand, split};
use super::{Found, ReadFault, Variables, at, flags_of, is_program, read_words, shell};
use crate::yaml::{YamlFault, YamlNode, YamlValue};

/// Longest part of a line that an error quotes, characters.
const MAX_QUOTED: usize = 60;

/// Reads the flags of the service that runs the reference node; also of a script that the service runs.
pub(crate) fn read(path: &Path, environment: &Variables) -> Result<Found, ReadFault> {
    let text = super::text_of(path)?;
    let yaml = |fault: YamlFault| {
        let line = text.lines().nth(fault.line.saturating_sub(1));
        let line = line.unwrap_or_default().trim().chars();
        ReadFault::Yaml {
            place: at(path, fault.line),
            what: format!(
                "{} in {:?}",
                fault.what,
                line.take(MAX_QUOTED).collect::<String>()
            ),
        }
    };
    let root = YamlNode::read(&text).map_err(yaml)?;
    let services = match root.get("services").map(|services| &services.value) {
        Some(YamlValue::Map(services)) => services.values().map(Rc::as_ref).collect(),
        _ => Vec::new(),
    };
    let mut found: Vec<ServiceReader<'_>> = Vec::new();
    for service in services {
        let words = service.get("command").map(listed).transpose();
        let reader = ServiceReader {
            path,
            service,
            words: words.map_err(yaml)?.unwrap_or_default(),
            environment,
        };
        if reader.is_node().map_err(yaml)? {
            found.push(reader);
        }
    }
    // Of several, the first one in the file.
    let first = found.iter().min_by_key(|reader| reader.service.line);
    let first = first.ok_or_else(|| ReadFault::NoService {
        path: path.to_owned(),
    })?;
    first.read(&first.variables().map_err(yaml)?)
}

struct ServiceReader<'a> {
    path: &'a Path,
    service: &'a YamlNode,
    /// Words of its command; variables are not replaced yet.
    words: Vec<String>,
    environment: &'a Variables,
}

impl ServiceReader<'_> {
    fn is_node(&self) -> Result<bool, YamlFault> {
        let image = self.service.get("image").map_or(Ok(""), YamlNode::text)?;
        let image = expand(image, self.environment).unwrap_or_default();
        let name = image.rsplit('/').next().unwrap_or_default();
        let runs = self.words.first().is_some_and(|word| is_program(word));
        Ok(runs || is_program(name.trim()))
    }

    fn read(&self, inner: &Variables) -> Result<Found, ReadFault> {
        let place = |key| at(self.path, self.service.get(key).map_or(0, |node| node.line));
        let mut found = Found {
            flags: flags_of(inner, &place("environment")),
            ..Found::default()
        };
        let place = place("command");
        if let Some(script) = self.words.iter().find(|word| word.ends_with(".sh")) {
            let Some(host) = self.mounted(script) else {
                let what = format!("the script {script} is in the image; give it with --flags");
                found.remarks.push((place, what));
                return Ok(found);
            };
            let script = shell::read(&host, inner)?;
            found.flags.extend(script.flags);
            found.remarks.extend(script.remarks);
            return Ok(found);
        }
        let mut flags = Vec::new();
        for word in self.words.iter().skip_while(|word| !word.starts_with("--")) {
            match expand(word, self.environment) {
                Some(word) => flags.push(word),
                None => found
                    .remarks
                    .push((place.clone(), format!("{word} cannot be evaluated here"))),
            }
        }
        read_words(&flags, &place, &mut found);
        Ok(found)
    }

    /// Path on the host of a file that a volume mounts.
    fn mounted(&self, inside: &str) -> Option<PathBuf> {
        let YamlValue::List(volumes) = &self.service.get("volumes")?.value else {
            return None;
        };
        let host = volumes.iter().find_map(|volume| {
            let text = |key| volume.get(key)?.text().ok();
            let (host, target) = match &volume.value {
                YamlValue::Text(volume) => volume.split_once(':')?,
                _ => (text("source")?, text("target")?),
            };
            (target.split(':').next()? == inside).then_some(host)
        })?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        Some(folder.join(expand(host, self.environment)?))
    }

    /// Variables of `environment`, a map or a list of `NAME=value`.
    fn variables(&self) -> Result<Variables, YamlFault> {
        let mut variables = Variables::new();
        let mut insert = |name: &str, value: &str| {
            variables.insert(name.to_owned(), expand(value, self.environment));
        };
        match self.service.get("environment").map(|node| &node.value) {
            Some(YamlValue::Map(map)) => {
                for (name, value) in map {
                    insert(name, value.text()?);
                }
            }
            Some(YamlValue::List(items)) => {
                for item in items {
                    if let Some((name, value)) = item.text()?.split_once('=') {
                        insert(name, value);
                    }
                }
            }
            _ => {}
        }
        Ok(variables)
    }
}

/// Items of a list, or words of a text; variables are not replaced yet.
fn listed(node: &YamlNode) -> Result<Vec<String>, YamlFault> {
    match &node.value {
        YamlValue::List(items) => {
            let texts = items.iter().map(|item| item.text().map(str::to_owned));
            texts.collect()
        }
        // Variables stay as they are: a dollar sign in single quotes is not special.
        _ => {
            let text = node.text()?.replace("\\\n", " ").replace('$', "\\$");
            Ok(split(&text, &Variables::new()).words)
        }
    }
}
