//! Flags in a compose file: `command` and `environment` of the reference node's service.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::words::{expand, split};
use super::{Found, ReadFault, Variables, at, flags_of, read_env, read_words, shell, unset};
use crate::release::Releases;
use crate::yaml::{YamlFault, YamlNode, YamlValue};

/// Maximum length of the part of a line that an error quotes, characters.
const MAX_QUOTED: usize = 60;

/// Reads the flags of the service that runs the reference node, including those in a script that the service runs.
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
    let mut unset_images = Vec::new();
    for service in services {
        let mut words = Vec::new();
        for key in ["entrypoint", "command"] {
            let listed = service.get(key).map(listed).transpose();
            words.extend(listed.map_err(yaml)?.unwrap_or_default());
        }
        let image = service.get("image").map_or(Ok(""), |image| image.text());
        let image = expand(image.map_err(yaml)?, environment);
        let program = words.first().and_then(|word| Releases::of_program(word));
        // The image's tag is more specific than its program's name.
        let releases = Releases::of_program(image.text.as_deref().unwrap_or_default());
        match releases.or(program) {
            Some(releases) => found.push(ServiceReader {
                path,
                service,
                words,
                releases: program
                    .and_then(|program| program.and(releases))
                    .unwrap_or(releases),
                environment,
            }),
            None => unset_images.extend(image.unset),
        }
    }
    // Of several services, the first one in the file.
    let first = found.iter().min_by_key(|reader| reader.service.line);
    let first = first.ok_or_else(|| ReadFault::NoService {
        path: path.to_owned(),
        unset: match unset_images.as_slice() {
            [] => String::new(),
            names => format!(" (${{{}}} is set nowhere)", names.join("}, ${")),
        },
    })?;
    let mut remarks = Vec::new();
    let mut variables = Variables::new();
    for file in first.env_files().map_err(yaml)? {
        variables.extend(read_env(&file)?);
    }
    first
        .variables(&mut variables, &mut remarks)
        .map_err(yaml)?;
    let mut found = first.read(&variables)?;
    found.remarks.splice(0..0, remarks);
    Ok(found)
}

struct ServiceReader<'a> {
    path: &'a Path,
    service: &'a YamlNode,
    /// Words of its entrypoint and command; variables are not replaced yet.
    words: Vec<String>,
    releases: Releases,
    environment: &'a Variables,
}

impl ServiceReader<'_> {
    fn read(&self, inner: &Variables) -> Result<Found, ReadFault> {
        let place = |keys: [&str; 2]| {
            let node = keys.iter().find_map(|key| self.service.get(key));
            at(self.path, node.map_or(self.service.line, |node| node.line))
        };
        let mut found = flags_of(inner, &place(["environment", "env_file"]));
        let image = place(["image", "entrypoint"]);
        let place = place(["command", "entrypoint"]);
        let mut command = Found::default();
        if let Some(script) = self.words.iter().find(|word| word.ends_with(".sh")) {
            match self.mounted(script) {
                Some(host) => command = shell::read(&host, inner)?,
                None => {
                    let what = format!("the script {script} is in the image; give it with --flags");
                    command.remark(&place, what);
                }
            }
        } else {
            let mut flags = Vec::new();
            for word in self.words.iter().skip_while(|word| !word.starts_with("--")) {
                let expanded = expand(word, self.environment);
                for name in &expanded.unset {
                    command.remark(&place, unset(name, Some(word)));
                }
                match expanded.text {
                    Some(_) if !expanded.unset.is_empty() => {}
                    Some(word) => flags.push(word),
                    None => command.remark(&place, format!("{word} cannot be evaluated here")),
                }
            }
            read_words(&flags, &place, &mut command);
        }
        found.overlay(command);
        found.is_of(self.releases, &image);
        Ok(found)
    }

    /// Returns the paths of `env_file`: a text, or a list of texts or of maps with `path`.
    fn env_files(&self) -> Result<Vec<PathBuf>, YamlFault> {
        let Some(files) = self.service.get("env_file") else {
            return Ok(Vec::new());
        };
        let files = match &files.value {
            YamlValue::List(files) => files.iter().map(Rc::as_ref).collect(),
            _ => vec![files],
        };
        let paths = files
            .into_iter()
            .map(|file| file.get("path").unwrap_or(file));
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let of_host = |path: &YamlNode| {
            let path = expand(path.text()?, self.environment).text;
            Ok(folder.join(path.unwrap_or_default()))
        };
        paths.map(of_host).collect()
    }

    /// Returns the path on the host of a file mounted by a volume.
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
        Some(folder.join(expand(host, self.environment).text?))
    }

    /// Adds the variables of `environment`, a map or a list of `NAME=value`.
    fn variables(
        &self,
        variables: &mut Variables,
        remarks: &mut Vec<(String, String)>,
    ) -> Result<(), YamlFault> {
        let mut insert = |name: &str, value: &str, line: usize| {
            let expanded = expand(value, self.environment);
            let place = at(self.path, line);
            let told = expanded
                .unset
                .iter()
                .map(|name| (place.clone(), unset(name, None)));
            remarks.extend(told);
            variables.insert(name.to_owned(), expanded.text);
        };
        match self.service.get("environment").map(|node| &node.value) {
            Some(YamlValue::Map(map)) => {
                for (name, value) in map {
                    insert(name, value.text()?, value.line);
                }
            }
            Some(YamlValue::List(items)) => {
                for item in items {
                    if let Some((name, value)) = item.text()?.split_once('=') {
                        insert(name, value, item.line);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the items of a list, or the words of a text; variables are not replaced yet. A shell command after `-c` is
/// split as well.
fn listed(node: &YamlNode) -> Result<Vec<String>, YamlFault> {
    // Variables are kept as they are: a dollar sign is escaped here, since in single quotes it is not special.
    let words = |text: &str| {
        let text = text.replace("\\\n", " ").replace('$', "\\$");
        split(&text, &Variables::new()).words
    };
    let mut listed = match &node.value {
        YamlValue::List(items) => {
            let texts = items.iter().map(|item| item.text().map(str::to_owned));
            texts.collect::<Result<Vec<_>, _>>()?
        }
        _ => words(node.text()?),
    };
    if let Some(at) = listed.iter().position(|word| word == "-c") {
        let command: Vec<_> = listed
            .iter()
            .skip(at + 1)
            .flat_map(|text| words(text))
            .collect();
        listed.splice(at + 1.., command);
    }
    Ok(listed)
}
