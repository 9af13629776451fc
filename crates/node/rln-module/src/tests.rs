//! The module over the registry file, and over a registry that does what a test says.

mod life;
mod refusals;
mod script;
mod together;
mod uncertain;
mod verify;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tempfile::TempDir;
use undertone_rln::{Key, RlnIdentifier};

use super::*;
use undertone_membership::SqliteRegistry;

const PASSWORD: &[u8] = b"correct horse battery staple";
/// Begin of an epoch, Unix nanoseconds.
const NOW: u64 = 2_833_333 * EPOCH;
/// Length of an epoch, nanoseconds.
const EPOCH: u64 = 600_000_000_000;
const WINDOW: usize = 3;

fn key() -> Arc<Key> {
    static KEY: OnceLock<Arc<Key>> = OnceLock::new();
    Arc::clone(KEY.get_or_init(|| Key::load().unwrap()))
}

/// A module that is not started, with cheap passwords.
fn module(folder: PathBuf, registries: Vec<RegistryName>, table: RegistryTable) -> RlnModule {
    let mut config = ModuleConfig::new(folder, registries);
    config.rounds = 2;
    RlnModule::new(config, table, key())
}

fn scope(registry: &RegistryName) -> MembershipScope {
    MembershipScope {
        registry: registry.clone(),
        identifier: RlnIdentifier::WAKU,
    }
}

fn register(module: &RlnModule, scope: &MembershipScope, limit: u32, now: u64) -> ModuleMembership {
    let options = RegistrationOptions::default();
    module.register(scope, limit, &options, now).unwrap()
}

fn status(module: &RlnModule, scope: &MembershipScope, now: u64) -> MembershipStatus {
    module.membership_state(scope, now).unwrap().status
}

/// A folder with a registry file and a module's store.
struct FileWorld {
    folder: TempDir,
    file: SqliteRegistry,
    scope: MembershipScope,
}

impl FileWorld {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = SqliteRegistry::open_or_create(folder.path().join("registry.sqlite"), 100);
        let file = file.unwrap();
        let scope = scope(&RegistryName::of_file(
            undertone_membership::MembershipLog::id(&file),
        ));
        Self {
            folder,
            file,
            scope,
        }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("module")
    }

    fn start(&self, now: u64) -> RlnModule {
        self.start_with(PASSWORD, now).unwrap()
    }

    fn start_with(&self, password: &[u8], now: u64) -> Result<RlnModule, ModuleError> {
        let files = vec![
            self.folder.path().join("not-there.sqlite"),
            self.file.path().to_owned(),
        ];
        let table = RegistryTable::new().with_files(files, WINDOW);
        let module = module(self.store(), vec![self.scope.registry.clone()], table);
        module.start(password, now)?;
        Ok(module)
    }
}
