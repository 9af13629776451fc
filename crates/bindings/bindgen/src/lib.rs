#![doc = include_str!("../README.md")]

mod c;

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use uniffi_bindgen::bindings::{GenerateOptions, TargetLanguage, generate};
use uniffi_bindgen::macro_metadata::extract_from_bytes;
use uniffi_meta::{create_metadata_groups, group_metadata};

/// Folders that [`write_sources`] makes, one for each language.
pub const LANGUAGES: [&str; 4] = ["c", "kotlin", "python", "swift"];

/// Reason why sources cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BindgenError {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file is no library with an interface.
    #[error("{}: {source}; name a library that cargo built, such as libundertone_bindings.so", path.display())]
    Library {
        /// Path of the library.
        path: PathBuf,
        /// Error of the reader.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The library has no interface, or several.
    #[error("{}: {found} interfaces; it must have one", path.display())]
    Interfaces {
        /// Path of the library.
        path: PathBuf,
        /// Number of interfaces.
        found: usize,
    },
    /// A path is not Unicode.
    #[error("{}: the path is not Unicode; choose another", path.display())]
    NotUnicode {
        /// The path as given.
        path: PathBuf,
    },
    /// The sources of a language cannot be made.
    #[error("{language}: {source}")]
    Language {
        /// Name of the language.
        language: &'static str,
        /// Error of the generator.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// Writes the sources for all languages to folders in `out`, named as in [`LANGUAGES`].
///
/// # Errors
/// [`BindgenError`] names the file or language.
pub fn write_sources(library: &Path, out: &Path) -> Result<(), BindgenError> {
    write_c(library, &out.join("c"))?;
    let languages = [
        ("kotlin", TargetLanguage::Kotlin),
        ("python", TargetLanguage::Python),
        ("swift", TargetLanguage::Swift),
    ];
    for (language, target) in languages {
        let options = GenerateOptions {
            languages: vec![target],
            source: unicode(library)?.into(),
            out_dir: unicode(&out.join(language))?.into(),
            ..GenerateOptions::default()
        };
        generate(options).map_err(|error| BindgenError::Language {
            language,
            source: error.into(),
        })?;
    }
    Ok(())
}

fn write_c(library: &Path, out: &Path) -> Result<(), BindgenError> {
    let file_error = |path: &Path| {
        let path = path.to_owned();
        |source| BindgenError::File { path, source }
    };
    let bytes = fs::read(library).map_err(file_error(library))?;
    let no_library = |source: Box<dyn Error + Send + Sync>| BindgenError::Library {
        path: library.to_owned(),
        source,
    };
    let items = extract_from_bytes(&bytes).map_err(|error| no_library(error.into()))?;
    let mut groups = create_metadata_groups(&items);
    group_metadata(&mut groups, items).map_err(|error| no_library(error.into()))?;
    let mut groups = groups.into_values();
    let (Some(group), None) = (groups.next(), groups.next()) else {
        return Err(BindgenError::Interfaces {
            path: library.to_owned(),
            found: groups.len(),
        });
    };
    fs::create_dir_all(out).map_err(file_error(out))?;
    let namespace = &group.namespace.name;
    let sources = c::sources(&group).map_err(|error| BindgenError::Language {
        language: "c",
        source: error.into(),
    })?;
    for (extension, text) in [("h", sources.header), ("c", sources.source)] {
        let path = out.join(format!("{namespace}.{extension}"));
        fs::write(&path, text).map_err(file_error(&path))?;
    }
    Ok(())
}

fn unicode(path: &Path) -> Result<&str, BindgenError> {
    path.to_str().ok_or_else(|| BindgenError::NotUnicode {
        path: path.to_owned(),
    })
}
