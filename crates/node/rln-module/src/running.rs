//! State of a running module: registries, memberships, store and counters.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use undertone_rln::{CounterError, Fr, Identity, MessageIdCounter, RlnIdentifier};
use zeroize::Zeroizing;

use super::config::ModuleConfig;
use super::error::{ModuleError, NotReadyReason, PermanentFault};
use super::name::RegistryName;
use super::registry::{ModuleRegistry, RegistryTable};
use super::scope::membership_hash;
use super::state::{MembershipStatus, ModuleMembership};
use super::store::{MembershipStore, StoredMembership};
use undertone_membership::Member;
use undertone_membership::View;

/// Everything that a module holds between start and stop.
pub(super) struct Running {
    pub(super) store: Mutex<MembershipStore>,
    pub(super) password: Zeroizing<Vec<u8>>,
    confirmation_window_ns: u64,
    registries: BTreeMap<RegistryName, ServedRegistry>,
    /// Counters in use, by the paths of their files.
    counters: Mutex<BTreeMap<PathBuf, MessageIdCounter>>,
}

/// A registry with the module's newest membership in it.
pub(super) struct ServedRegistry {
    pub(super) name: RegistryName,
    pub(super) registry: Arc<dyn ModuleRegistry>,
    /// Roots and paths of the registry, for verification.
    pub(super) view: Arc<Mutex<dyn View>>,
    /// The membership. Lock order: this lock before that of the store.
    pub(super) held: Mutex<Option<HeldMembership>>,
}

/// A membership of this module.
#[derive(Clone)]
pub(super) struct HeldMembership {
    pub(super) identity: Arc<Identity>,
    pub(super) record: StoredMembership,
}

/// A membership that can make proofs.
pub(super) struct UsableMembership {
    pub(super) identity: Arc<Identity>,
    pub(super) member: Member,
}

impl HeldMembership {
    pub(super) fn facts(&self, registry: &RegistryName) -> ModuleMembership {
        ModuleMembership {
            membership_hash: membership_hash(registry, self.identity.commitment()),
            rate_limit: self.record.rate_limit,
            leaf_index: self.record.leaf_index,
        }
    }
}

impl ServedRegistry {
    /// Returns an error if the view was never complete.
    pub(super) fn warm(&self) -> Result<(), NotReadyReason> {
        match self.registry.is_ready() {
            true => Ok(()),
            false => Err(NotReadyReason::ColdView {
                registry: self.name.clone(),
            }),
        }
    }
}

impl Running {
    /// Opens the store and the registries.
    pub(super) fn open(
        config: &ModuleConfig,
        table: &RegistryTable,
        password: &[u8],
        now_ns: u64,
    ) -> Result<Self, ModuleError> {
        let store = MembershipStore::open(&config.folder)?;
        let mut registries = BTreeMap::new();
        for name in &config.registries {
            let held = store.newest(name, password)?;
            let held = held.map(|(identity, mut record)| {
                // The clock was set back since the submission. The window begins now; otherwise it might
                // never end.
                record.submitted_unix_ns = record.submitted_unix_ns.min(now_ns);
                HeldMembership {
                    identity: Arc::new(identity),
                    record,
                }
            });
            let registry = table.open(name)?;
            let served = ServedRegistry {
                name: name.clone(),
                view: registry.view(),
                registry,
                held: Mutex::new(held),
            };
            registries.insert(name.clone(), served);
        }
        Ok(Self {
            store: Mutex::new(store),
            password: Zeroizing::new(password.to_vec()),
            confirmation_window_ns: config.confirmation_window_ns,
            registries,
            counters: Mutex::default(),
        })
    }

    pub(super) fn served(&self, name: &RegistryName) -> Result<&ServedRegistry, PermanentFault> {
        let served = self.registries.get(name);
        served.ok_or_else(|| PermanentFault::OtherRegistry {
            registry: name.clone(),
        })
    }

    /// Updates all views and memberships; returns the first error after all were tried.
    pub(super) fn maintain(&self, now_ns: u64) -> Result<(), ModuleError> {
        let mut result = Ok(());
        for served in self.registries.values() {
            let refreshed = match served.held.lock().as_mut() {
                Some(held) => self.status(served, held, now_ns).map(drop),
                None => served.registry.refresh().map_err(ModuleError::from),
            };
            result = result.and(refreshed);
        }
        result
    }

    /// Reads the registry, records what is new, and determines the membership's status.
    pub(super) fn status(
        &self,
        served: &ServedRegistry,
        held: &mut HeldMembership,
        now_ns: u64,
    ) -> Result<(MembershipStatus, Option<Member>), ModuleError> {
        // Read even if the view is cold: some registries start to follow a member only when it is looked up.
        let registry = &served.registry;
        let commitment = held.identity.commitment();
        let observation = registry
            .refresh()
            .and_then(|()| registry.observe(commitment))
            .map_err(ModuleError::from);
        let observation = match served.warm() {
            Ok(()) => observation,
            Err(cold) => Err(cold.into()),
        };
        let milestone = held.record.milestone;
        let observation = match (observation, milestone.unreachable()) {
            (Ok(observation), _) => observation,
            (Err(_), Some(status)) => return Ok((status, None)),
            (Err(error), None) => return Err(error),
        };
        let begun_ns = held.record.submitted_unix_ns;
        let deadline_ns = begun_ns.saturating_add(self.confirmation_window_ns);
        let (next, status, member) = milestone.judge(&observation, deadline_ns, now_ns);
        let mut record = held.record.clone();
        record.milestone = next;
        if let Some(member) = member {
            record.rate_limit = member.limit;
            record.leaf_index = Some(member.index.get());
        }
        let facts = |it: &StoredMembership| (it.milestone, it.rate_limit, it.leaf_index);
        if facts(&record) != facts(&held.record) {
            self.store.lock().update(&record)?;
            held.record = record;
        }
        Ok((status, member))
    }

    /// Returns the membership if it can make proofs now.
    pub(super) fn usable(
        &self,
        served: &ServedRegistry,
        now_ns: u64,
    ) -> Result<UsableMembership, ModuleError> {
        let mut slot = served.held.lock();
        let registry = || served.name.clone();
        let not_usable = |status| PermanentFault::NotUsable {
            registry: registry(),
            status,
        };
        let held = slot.as_mut();
        let held = held.ok_or_else(|| not_usable(MembershipStatus::Unknown))?;
        let (status, member) = self.status(served, held, now_ns)?;
        match member {
            Some(member) if status.is_usable() => Ok(UsableMembership {
                identity: Arc::clone(&held.identity),
                member,
            }),
            _ if status == MembershipStatus::Pending => Err(NotReadyReason::Pending {
                registry: registry(),
            }
            .into()),
            _ => Err(not_usable(status).into()),
        }
    }

    /// Calls `use_it` with the message-id counter of a membership in one application.
    pub(super) fn with_counter<T>(
        &self,
        registry: &RegistryName,
        member: &Member,
        identifier: &RlnIdentifier,
        use_it: impl FnOnce(&mut MessageIdCounter) -> Result<T, CounterError>,
    ) -> Result<T, ModuleError> {
        let path = self.counter_path(registry, member.commitment, identifier);
        let mut counters = self.counters.lock();
        let is_current = |counter: &MessageIdCounter| counter.limit() == member.limit;
        if !counters.get(&path).is_some_and(is_current) {
            // The old one holds the lock until it is dropped.
            drop(counters.remove(&path));
            let opened = MessageIdCounter::open(&path, member.limit)?;
            counters.insert(path.clone(), opened);
        }
        let counter = counters.get_mut(&path).expect("inserted above if missing");
        Ok(use_it(counter)?)
    }

    fn counter_path(
        &self,
        registry: &RegistryName,
        commitment: Fr,
        identifier: &RlnIdentifier,
    ) -> PathBuf {
        self.store.lock().counter(registry, commitment, identifier)
    }

    /// Returns the names of the served registries.
    pub(super) fn names(&self) -> impl Iterator<Item = &RegistryName> {
        self.registries.keys()
    }
}

/// Returns the path of a member under the newest root, unless the view is behind the registry.
pub(super) fn path_of(
    served: &ServedRegistry,
    member: &Member,
) -> Result<undertone_rln::MerklePath, NotReadyReason> {
    let (path, newest) = {
        let view = served.view.lock();
        (view.path(member.index), view.roots().newest())
    };
    let path = path.filter(|path| newest == Some(path.root_of(member.leaf())));
    path.ok_or_else(|| NotReadyReason::ViewBehind {
        registry: served.name.clone(),
    })
}
