//! The module itself: lifecycle, registration, proofs and verification.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{MappedRwLockReadGuard, RwLock, RwLockReadGuard};
use undertone_rln::prover::os_rng;
use undertone_rln::{
    CounterError, Epoch, Identity, Key, ProofRequest, Prover, Verifier, WallClock,
};

use super::config::ModuleConfig;
use super::error::{ModuleError, NotReadyReason, PermanentFault};
use super::proof::{GENERATION, ModuleProof, ProofDefect, signal_point};
use super::registry::{RegistrationOptions, RegistryTable, SubmitError};
use super::running::{HeldMembership, Running, path_of};
use super::scope::MembershipScope;
use super::state::{MembershipReport, MembershipStatus, ModuleMembership, ScopeQuota};
use super::store::StoredMembership;

/// Instance of the module. See [the module's description](super).
///
/// One membership per registry serves all its applications, each with a budget of its own. `unix_now_ns` is
/// always the present time in Unix nanoseconds.
pub struct RlnModule {
    config: ModuleConfig,
    table: RegistryTable,
    prover: Prover,
    verifier: Verifier,
    running: RwLock<Option<Running>>,
    /// Whether calls in flight should end early.
    is_stopping: AtomicBool,
}

impl RlnModule {
    /// Creates a module that is not started.
    pub fn new(config: ModuleConfig, table: RegistryTable, key: Arc<Key>) -> Self {
        Self {
            config,
            table,
            verifier: Verifier::new(&key),
            prover: Prover::new(key),
            running: RwLock::new(None),
            is_stopping: AtomicBool::new(false),
        }
    }

    /// Starts the module: opens the registries, and decrypts the newest membership of each with the password,
    /// which takes about half a second for each. Verification needs no membership.
    ///
    /// # Errors
    /// Transient: another module holds the folder, or a registry or the disk failed. Permanent: an unsupported
    /// namespace, a registry that the table's openers do not find, a wrong password, or a modified store.
    pub fn start(&self, password: &[u8], unix_now_ns: u64) -> Result<(), ModuleError> {
        let mut slot = self.running.write();
        if slot.is_some() {
            return Err(PermanentFault::AlreadyStarted.into());
        }
        let running = Running::open(&self.config, &self.table, password, unix_now_ns)?;
        // A registry that cannot be read now is read later; until then, its calls report the error.
        let _ = running.maintain(unix_now_ns);
        *slot = Some(running);
        self.is_stopping.store(false, Ordering::SeqCst);
        Ok(())
    }

    /// Stops the module. Calls in flight end before their next irreversible step; waits for them.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        *self.running.write() = None;
    }

    /// Reads what is new in the registries without a thread of their own, and updates the state of memberships.
    /// Must be called every few seconds.
    ///
    /// # Errors
    /// The first error, after all registries were tried.
    pub fn maintain(&self, unix_now_ns: u64) -> Result<(), ModuleError> {
        self.running()?.maintain(unix_now_ns)
    }

    /// Registers a new identity with a limit in messages per epoch. If the scope already has a membership that is
    /// pending or usable, returns that one instead. Returns once the registration is submitted and stored.
    ///
    /// # Errors
    /// Permanent: the limit is outside the registry's bounds, or the registry refused. Transient: not submitted,
    /// or perhaps submitted; in the second case the membership is pending.
    pub fn register(
        &self,
        scope: &MembershipScope,
        rate_limit: u32,
        options: &RegistrationOptions,
        unix_now_ns: u64,
    ) -> Result<ModuleMembership, ModuleError> {
        let running = self.running()?;
        let served = running.served(&scope.registry)?;
        let limits = served.registry.rate_limits();
        if !limits.contains(&rate_limit) {
            return Err(PermanentFault::RateLimit {
                rate_limit,
                least: *limits.start(),
                most: *limits.end(),
            }
            .into());
        }
        let mut slot = served.held.lock();
        if let Some(held) = slot.as_mut() {
            let (status, _) = running.status(served, held, unix_now_ns)?;
            if status.is_live() {
                return Ok(held.facts(&served.name));
            }
        }
        self.go_on()?;
        let identity = Identity::generate(&mut os_rng()?);
        let commitment = identity.commitment();
        let (name, rounds) = (&served.name, self.config.rounds);
        let record = StoredMembership::seal(
            name,
            &identity,
            rate_limit,
            unix_now_ns,
            &running.password,
            rounds,
        )?;
        // Stored before it is submitted: a crash in between costs a registration, but never loses a paid
        // membership.
        running.store.lock().add(record.clone())?;
        let held = HeldMembership {
            identity: Arc::new(identity),
            record,
        };
        let facts = held.facts(name);
        let former = slot.replace(held.clone());
        // From here on other calls see a pending membership and do not wait for the registry.
        drop(slot);
        let submitted = served.registry.submit(commitment, rate_limit, options);
        if let Err(SubmitError::Refused(_) | SubmitError::NotSent(_)) = &submitted {
            let mut slot = served.held.lock();
            running.store.lock().remove(&held.record)?;
            *slot = former;
        }
        submitted?;
        Ok(facts)
    }

    /// Returns status and facts of the scope's membership. The registry's view takes precedence over the module's
    /// own records.
    ///
    /// # Errors
    /// Not ready or transient: the membership was in the registry before, and the registry cannot be read.
    pub fn membership_state(
        &self,
        scope: &MembershipScope,
        unix_now_ns: u64,
    ) -> Result<MembershipReport, ModuleError> {
        let running = self.running()?;
        let served = running.served(&scope.registry)?;
        let mut slot = served.held.lock();
        let Some(held) = slot.as_mut() else {
            return Ok(MembershipReport {
                status: MembershipStatus::Unknown,
                membership: None,
            });
        };
        let (status, _) = running.status(served, held, unix_now_ns)?;
        Ok(MembershipReport {
            status,
            membership: Some(held.facts(&served.name)),
        })
    }

    /// Returns the scope's budget in the present epoch. Only [`Self::generate_proof`] decides.
    ///
    /// # Errors
    /// Those of [`Self::generate_proof`], except that a used-up budget is not an error.
    pub fn epoch_quota(
        &self,
        scope: &MembershipScope,
        unix_now_ns: u64,
    ) -> Result<ScopeQuota, ModuleError> {
        let running = self.running()?;
        let served = running.served(&scope.registry)?;
        let member = running.usable(served, unix_now_ns)?.member;
        let clock = self.clock(unix_now_ns);
        let epoch = clock.epoch();
        let remaining =
            |counter: &mut undertone_rln::MessageIdCounter| match counter.ready(epoch, &clock) {
                Ok(next) => Ok(member.limit - next),
                Err(CounterError::Exhausted { .. } | CounterError::EpochClosed { .. }) => Ok(0),
                Err(error) => Err(error),
            };
        let name = &served.name;
        Ok(ScopeQuota {
            epoch,
            rate_limit: member.limit,
            remaining: running.with_counter(name, &member, &scope.identifier, remaining)?,
        })
    }

    /// Makes a proof for a signal in the present epoch. Its message id is written to disk before the proof is
    /// made, and counts as used even if no proof results.
    ///
    /// # Errors
    /// Not ready: the membership is pending, or the tree is behind. Budget exhausted: the epoch's messages are
    /// used up. Permanent: there is no usable membership. Transient: registry, disk or random numbers failed.
    pub fn generate_proof(
        &self,
        scope: &MembershipScope,
        signal: &[u8],
        unix_now_ns: u64,
    ) -> Result<ModuleProof, ModuleError> {
        let running = self.running()?;
        let served = running.served(&scope.registry)?;
        let usable = running.usable(served, unix_now_ns)?;
        let path = path_of(served, &usable.member)?;
        let clock = self.clock(unix_now_ns);
        self.go_on()?;
        let (name, identifier) = (&served.name, &scope.identifier);
        let reserved = running.with_counter(name, &usable.member, identifier, |counter| {
            counter.reserve(clock.epoch(), &clock)
        })?;
        let wire = self.prover.prove(&ProofRequest {
            identity: &usable.identity,
            limit: usable.member.limit,
            path: &path,
            generation: GENERATION,
            epoch: reserved.epoch(),
            identifier,
            message_id: reserved.message_id(),
            x: signal_point(signal),
        })?;
        Ok(ModuleProof::from_wire(&wire).expect("the epoch was encoded from a number"))
    }

    /// Whether a proof for a signal is accepted. Needs no membership, and does not read the registry.
    ///
    /// # Errors
    /// Not ready: the registry's view was never complete. Permanent: the registry is not served.
    pub fn verify_proof(
        &self,
        scope: &MembershipScope,
        signal: &[u8],
        proof: &ModuleProof,
        unix_now_ns: u64,
    ) -> Result<bool, ModuleError> {
        let judged = self.judge_proof(scope, signal, proof, unix_now_ns)?;
        Ok(judged.is_ok())
    }

    /// Like [`Self::verify_proof`], with the reason for a rejection. The SNARK is checked last.
    ///
    /// # Errors
    /// Those of [`Self::verify_proof`].
    pub fn judge_proof(
        &self,
        scope: &MembershipScope,
        signal: &[u8],
        proof: &ModuleProof,
        unix_now_ns: u64,
    ) -> Result<Result<(), ProofDefect>, ModuleError> {
        let running = self.running()?;
        let served = running.served(&scope.registry)?;
        served.warm()?;
        let now = self.clock(unix_now_ns).epoch();
        Ok(self.judge(scope, signal, proof, now, |root| {
            let view = served.view.lock();
            let roots = view.roots();
            match roots.contains(root) {
                true => Ok(()),
                false => Err(ProofDefect::UnknownRoot {
                    window_len: roots.len(),
                }),
            }
        }))
    }

    fn judge(
        &self,
        scope: &MembershipScope,
        signal: &[u8],
        proof: &ModuleProof,
        now: Epoch,
        known_root: impl Fn(&undertone_rln::Fr) -> Result<(), ProofDefect>,
    ) -> Result<(), ProofDefect> {
        let max_gap = self.config.max_epoch_gap;
        let statement = proof.statement(&scope.identifier, signal, now, max_gap)?;
        known_root(&statement.root)?;
        Ok(self.verifier.verify(&statement)?)
    }

    fn running(&self) -> Result<MappedRwLockReadGuard<'_, Running>, NotReadyReason> {
        self.go_on()?;
        RwLockReadGuard::try_map(self.running.read(), Option::as_ref)
            .map_err(|_| NotReadyReason::NotRunning)
    }

    /// Ends a call if the module is stopping.
    fn go_on(&self) -> Result<(), NotReadyReason> {
        match self.is_stopping.load(Ordering::SeqCst) {
            true => Err(NotReadyReason::NotRunning),
            false => Ok(()),
        }
    }

    fn clock(&self, unix_now_ns: u64) -> WallClock {
        WallClock {
            unix_now_ns,
            epoch_size_s: self.config.epoch_size_s,
            max_clock_gap_ns: 0,
        }
    }
}

impl fmt::Debug for RlnModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let running = self.running.read();
        let registries: Option<Vec<_>> = running.as_ref().map(|it| it.names().collect());
        f.debug_struct("RlnModule")
            .field("folder", &self.config.folder)
            .field("running", &registries)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
impl RlnModule {
    /// Whether calls in flight should end early.
    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }

    /// Returns the store as it would be printed, and the secrets of the membership in a registry.
    pub(super) fn with_secrets(
        &self,
        registry: &super::RegistryName,
    ) -> (String, Vec<undertone_rln::Fr>) {
        let running = self.running().unwrap();
        let slot = running.served(registry).unwrap().held.lock();
        let identity = &slot.as_ref().unwrap().identity;
        let secrets = [identity.trapdoor(), identity.nullifier(), identity.secret()];
        (
            format!("{:?}", running.store.lock()),
            secrets.map(|it| *it).to_vec(),
        )
    }
}
