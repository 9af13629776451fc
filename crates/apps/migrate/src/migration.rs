//! A migration from its sources to the new folder.

use std::path::{Path, PathBuf};

use undertone_node::config::{NodeConfig, Sources};
use undertone_rln::KeystoreCredential;
use zeroize::Zeroizing;

use crate::archive::{self, SourceArchive};
use crate::error::MigrateError;
use crate::folder::{self, MigrationFolder};
use crate::identity::{self, FoundKeystore};
use crate::mapping::Mapped;
use crate::read::{self, Found, Variables};
use crate::release::Releases;
use crate::report::MigrationReport;

/// Files of a deployment of the reference node, and the folder to create.
#[derive(Debug, Clone, Default)]
pub struct NwakuSources {
    /// Shell script or list with flags; overrides `compose` and `toml`.
    pub flags: Option<PathBuf>,
    /// Compose file with the node's service; a script that it mounts is read as well.
    pub compose: Option<PathBuf>,
    /// TOML file of the node.
    pub toml: Option<PathBuf>,
    /// Variables of the script or compose file, one `NAME=value` per line.
    pub env: Option<PathBuf>,
    /// File with the node key, if it is not among the flags.
    pub node_key_file: Option<PathBuf>,
    /// Message archive in SQLite.
    pub archive: Option<PathBuf>,
    /// Release of the node, such as `0.38`, if the sources do not say it; defaults depend on it.
    pub release: Option<String>,
    /// Folder to create.
    pub output: PathBuf,
}

/// A deployment that has been read and can be written.
pub struct Migration {
    output: PathBuf,
    mapped: Mapped,
    remarks: Vec<(String, String)>,
    folder: MigrationFolder,
    config: NodeConfig,
    node_key: Option<Zeroizing<Vec<u8>>>,
    member: Option<KeystoreCredential>,
    archive: Option<SourceArchive>,
}

impl Migration {
    /// Reads all sources except the keystore; writes nothing.
    ///
    /// # Errors
    /// [`MigrateError`] if a source cannot be read, the flags do not result in a valid configuration, or the output
    /// exists.
    pub fn read(sources: &NwakuSources) -> Result<Self, MigrateError> {
        let found = gather(sources)?;
        let mut mapped = Mapped::of(&found);
        if sources.archive.is_some() {
            mapped.copy_archive();
        }
        let folder = MigrationFolder::check(&sources.output)?;
        let config = checked(&mapped.to_toml(&folder.data), &found.remarks)?;
        let key_file = sources.node_key_file.as_deref();
        let node_key = identity::node_key(key_file, mapped.secret("nodekey"))?;
        let archive = sources.archive.as_deref().map(archive::open).transpose()?;
        Ok(Self {
            output: sources.output.clone(),
            mapped,
            remarks: found.remarks,
            folder,
            config,
            node_key,
            member: None,
            archive,
        })
    }

    /// Reads a keystore, without decrypting it yet.
    ///
    /// # Errors
    /// [`MigrateError::NoRateLimit`] if the node would not use it, [`MigrateError::Keystore`] if it cannot be read.
    pub fn find_keystore(&self, path: &Path) -> Result<FoundKeystore, MigrateError> {
        match self.config.rln {
            Some(_) => FoundKeystore::read(path, &self.mapped),
            None => Err(MigrateError::NoRateLimit),
        }
    }

    /// Decrypts the keystore's credential: the one selected by the flag for the membership's index, or the only one.
    ///
    /// # Errors
    /// [`MigrateError`] if the password is wrong, no single credential is selected, or its message limit makes the
    /// configuration invalid.
    pub fn open_keystore(
        &mut self,
        keystore: &FoundKeystore,
        password: &[u8],
    ) -> Result<(), MigrateError> {
        let credential = keystore.open(password, &self.mapped)?;
        self.mapped.set_message_limit(credential.limit);
        checked(&self.mapped.to_toml(&self.folder.data), &self.remarks)?;
        self.member = Some(credential);
        Ok(())
    }

    /// Creates the folder. Calls `progress` with the number of archive messages read so far and the total.
    ///
    /// # Errors
    /// [`MigrateError`] if a file cannot be written or the archive cannot be copied.
    pub async fn write(
        self,
        progress: impl FnMut(u64, u64),
    ) -> Result<MigrationReport, MigrateError> {
        let toml = self.mapped.to_toml(&self.folder.data);
        self.folder.make()?;
        let mut report = MigrationReport::new(&self.output, self.mapped, self.remarks);
        if let Some(key) = &self.node_key {
            let peer_id = identity::write_node_key(&self.config.node_key_file, key)?;
            report.peer_id = Some(peer_id);
        }
        if let (Some(credential), Some(rln)) = (&self.member, &self.config.rln) {
            report.membership = Some(identity::write_member(credential, rln)?);
        }
        if let Some(source) = &self.archive {
            let copy = archive::copy(source, &self.folder.archive, progress).await?;
            report.archive = Some(copy);
        }
        // Last, so that a folder that contains this file is complete.
        folder::write_new(&self.folder.config, toml.as_bytes())?;
        Ok(report)
    }
}

/// Loads and thereby checks one of our configuration files. An error includes the remarks on the sources, which may
/// explain it.
fn checked(toml: &str, remarks: &[(String, String)]) -> Result<NodeConfig, MigrateError> {
    let sources = Sources {
        text: Some(toml.to_owned()),
        ..Sources::default()
    };
    NodeConfig::load(&sources).map_err(|source| MigrateError::Config {
        source: Box::new(source),
        noted: remarks
            .iter()
            .map(|(place, what)| format!("; {place}: {what}"))
            .collect(),
    })
}

/// Reads all sources; later ones override earlier ones.
fn gather(sources: &NwakuSources) -> Result<Found, MigrateError> {
    let environment = match &sources.env {
        Some(path) => read::read_env(path)?,
        None => Variables::new(),
    };
    let mut all = Found::default();
    if let Some(path) = &sources.toml {
        all.overlay(read::read_toml(path)?);
    }
    if let Some(path) = &sources.env {
        all.overlay(read::flags_of(&environment, &path.display().to_string()));
    }
    if let Some(path) = &sources.compose {
        all.overlay(read::read_compose(path, &environment)?);
    }
    if let Some(path) = &sources.flags {
        all.overlay(read::read_script(path, &environment)?);
    }
    if let Some(text) = &sources.release {
        let release = Releases::of_version(text);
        all.releases = release.ok_or_else(|| MigrateError::Release { text: text.clone() })?;
    }
    let has_file = sources.toml.is_some() || sources.compose.is_some() || sources.flags.is_some();
    match has_file || !all.flags.is_empty() {
        true => Ok(all),
        false => Err(MigrateError::NoSource),
    }
}
