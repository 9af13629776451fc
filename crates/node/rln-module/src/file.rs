//! The registry file as a registry of the module.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use undertone_rln::Fr;

use super::name::{OWN, RegistryName};
use super::registry::{
    FoundMember, Lifecycle, ModuleRegistry, Observation, RegistrationOptions, RegistryOpenError,
    RegistryTable, SubmitError,
};
use undertone_membership::SqliteRegistry;
use undertone_membership::StorageError;
use undertone_membership::{
    Change, MemberLookup, MembershipLog, RegistryError, RegistryId, Version,
};
use undertone_membership::{MembershipView, View};

/// Number of changes read from the file at once.
const PAGE: usize = 1024;

/// Registry file with a view of it. Registration is immediate and free, and accepts no options.
#[derive(Debug)]
pub struct FileRegistry {
    registry: SqliteRegistry,
    view: Arc<Mutex<MembershipView>>,
    /// Held while the view is updated, so that pages are applied in order.
    refreshing: Mutex<()>,
}

/// One page of a log, in memory, so that applying it does not wait for the disk.
struct Page {
    id: RegistryId,
    version: Version,
    changes: Vec<Change>,
}

impl FileRegistry {
    /// Creates the registry and reads it; the newest `window` roots will be accepted.
    ///
    /// # Errors
    /// When the registry cannot be read.
    pub fn new(registry: SqliteRegistry, window: usize) -> Result<Self, RegistryError> {
        let opened = Self {
            registry,
            view: Arc::new(Mutex::new(MembershipView::new(window))),
            refreshing: Mutex::new(()),
        };
        opened.refresh()?;
        Ok(opened)
    }

    /// Returns the registry's name.
    pub fn name(&self) -> RegistryName {
        RegistryName::of_file(self.registry.id())
    }
}

impl RegistryTable {
    /// Adds the registries in these files, each with a window of the newest `window` roots. Files that do not
    /// exist are skipped.
    #[must_use]
    pub fn with_files(self, files: Vec<PathBuf>, window: usize) -> Self {
        self.with(OWN, move |name| {
            for file in &files {
                let exists = file.try_exists();
                if !exists.map_err(|source| StorageError::Io {
                    path: file.clone(),
                    source,
                })? {
                    continue;
                }
                let registry = SqliteRegistry::open(file)?;
                if RegistryName::of_file(registry.id()) == *name {
                    return Ok(Arc::new(FileRegistry::new(registry, window)?));
                }
            }
            Err(RegistryOpenError::NotConfigured { name: name.clone() })
        })
    }
}

impl ModuleRegistry for FileRegistry {
    fn rate_limits(&self) -> RangeInclusive<u32> {
        1..=self.registry.max_limit()
    }

    fn is_ready(&self) -> bool {
        true
    }

    fn view(&self) -> Arc<Mutex<dyn View>> {
        Arc::clone(&self.view) as Arc<Mutex<dyn View>>
    }

    /// Reads the file without the view's lock, so that verification never waits for the disk.
    fn refresh(&self) -> Result<(), RegistryError> {
        let _refreshing = self.refreshing.lock();
        loop {
            let known = self.view.lock().version();
            let newest = self.registry.version()?;
            let changes = match newest < known {
                true => Vec::new(),
                false => self.registry.changes_since(known, PAGE)?,
            };
            let Some(last) = changes.last() else {
                // Nothing new, or fewer versions than before; the view reports the latter.
                let page = Page::new(self.registry.id(), newest, changes);
                return self.view.lock().refresh(&page).map(drop);
            };
            let page = Page::new(self.registry.id(), last.version, changes);
            self.view.lock().refresh(&page)?;
        }
    }

    fn observe(&self, commitment: Fr) -> Result<Observation, RegistryError> {
        let member = self.registry.find(commitment)?;
        Ok(Observation {
            found: member.map(|member| FoundMember {
                member,
                lifecycle: Lifecycle::Active,
            }),
            as_of_ns: None,
        })
    }

    fn submit(
        &self,
        commitment: Fr,
        rate_limit: u32,
        options: &RegistrationOptions,
    ) -> Result<(), SubmitError> {
        options
            .only(&[])
            .map_err(|unknown| SubmitError::Refused(Box::new(unknown)))?;
        let registered = self.registry.register(commitment, rate_limit);
        registered.map(drop).map_err(|error| match error {
            RegistryError::Storage(StorageError::Locked { .. } | StorageError::DiskFull { .. }) => {
                SubmitError::NotSent(Box::new(error))
            }
            RegistryError::Storage(_) => SubmitError::OutcomeUnknown(Box::new(error)),
            _ => SubmitError::Refused(Box::new(error)),
        })
    }
}

impl Page {
    fn new(id: RegistryId, version: Version, changes: Vec<Change>) -> Self {
        Self {
            id,
            version,
            changes,
        }
    }
}

impl MembershipLog for Page {
    fn id(&self) -> RegistryId {
        self.id
    }

    fn version(&self) -> Result<Version, RegistryError> {
        Ok(self.version)
    }

    fn changes_since(&self, known: Version, most: usize) -> Result<Vec<Change>, RegistryError> {
        let newer = self.changes.iter().filter(|it| it.version > known);
        Ok(newer.take(most).copied().collect())
    }
}
