//! A registry that does what a test says.

use std::ops::RangeInclusive;
use std::sync::{Arc, Barrier};

use parking_lot::Mutex;
use tempfile::TempDir;
use undertone_rln::{Fr, MerklePath, MerkleTree, RootWindow};

use super::*;
use undertone_membership::View;
use undertone_membership::{Member, MemberIndex, RegistryError, Version};

/// What the registry does with a registration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Answer {
    /// Takes it, and applies it at once.
    Apply,
    /// Takes it and does nothing.
    Shelve,
    /// Refuses it for good.
    Refuse,
    /// Was not reached.
    Unsent,
    /// Applies it, and the confirmation is lost.
    Lose,
}

pub(super) struct Script {
    pub(super) answer: Answer,
    pub(super) lifecycle: Lifecycle,
    pub(super) is_ready: bool,
    pub(super) is_reachable: bool,
    pub(super) as_of_ns: Option<u64>,
    /// Accesses to the registry, however they ended.
    pub(super) accesses: usize,
    pub(super) submissions: usize,
    pub(super) members: Vec<Member>,
    /// Commitments that were shelved, with their limits.
    pub(super) shelved: Vec<(Fr, u32)>,
}

#[derive(Clone)]
pub(super) struct Scripted {
    pub(super) script: Arc<Mutex<Script>>,
    /// Two barriers that the next access waits at, one after the other.
    pub(super) gate: Arc<Mutex<Option<Arc<[Barrier; 2]>>>>,
    view: Arc<Mutex<ScriptedView>>,
}

struct ScriptedView {
    tree: MerkleTree,
    roots: RootWindow,
}

/// A world with two registries, `test:1:a` and `test:1:b`.
pub(super) struct ScriptedWorld {
    pub(super) folder: TempDir,
    pub(super) a: Scripted,
    pub(super) b: Scripted,
}

impl Scripted {
    fn new() -> Self {
        let script = Script {
            answer: Answer::Apply,
            lifecycle: Lifecycle::Active,
            is_ready: true,
            is_reachable: true,
            as_of_ns: None,
            accesses: 0,
            submissions: 0,
            members: Vec::new(),
            shelved: Vec::new(),
        };
        let view = ScriptedView {
            tree: MerkleTree::new(),
            roots: RootWindow::new(WINDOW),
        };
        Self {
            script: Arc::new(Mutex::new(script)),
            gate: Arc::default(),
            view: Arc::new(Mutex::new(view)),
        }
    }

    pub(super) fn apply(&self, commitment: Fr, limit: u32) {
        let mut script = self.script.lock();
        let member = Member {
            index: MemberIndex::new(script.members.len() as u32).unwrap(),
            commitment,
            limit,
        };
        script.members.push(member);
        let mut view = self.view.lock();
        view.tree.set(member.index.get(), member.leaf()).unwrap();
        let root = view.tree.root();
        view.roots.push(root);
    }

    /// Applies the registration that was shelved last.
    pub(super) fn catch_up(&self) {
        let (commitment, limit) = self.script.lock().shelved.pop().unwrap();
        self.apply(commitment, limit);
    }

    fn access(&self) -> Result<(), RegistryError> {
        let gate = self.gate.lock().take();
        if let Some(gate) = gate {
            for barrier in gate.iter() {
                barrier.wait();
            }
        }
        let mut script = self.script.lock();
        script.accesses += 1;
        match script.is_reachable {
            true => Ok(()),
            false => Err(RegistryError::NotAnswered),
        }
    }
}

impl ScriptedWorld {
    pub(super) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            a: Scripted::new(),
            b: Scripted::new(),
        }
    }

    pub(super) fn scopes(&self) -> [MembershipScope; 2] {
        ["test:1:a", "test:1:b"].map(|name| scope(&name.parse().unwrap()))
    }

    pub(super) fn module(&self) -> RlnModule {
        let (a, b) = (self.a.clone(), self.b.clone());
        let table = RegistryTable::new().with("test", move |name| {
            let which = if name.account() == "a" { &a } else { &b };
            Ok(Arc::new(which.clone()))
        });
        let names = self.scopes().map(|scope| scope.registry);
        module(self.folder.path().to_owned(), names.to_vec(), table)
    }

    pub(super) fn start(&self, now: u64) -> RlnModule {
        let module = self.module();
        module.start(PASSWORD, now).unwrap();
        module
    }
}

impl ModuleRegistry for Scripted {
    fn rate_limits(&self) -> RangeInclusive<u32> {
        2..=100
    }

    fn is_ready(&self) -> bool {
        self.script.lock().is_ready
    }

    fn view(&self) -> Arc<Mutex<dyn View>> {
        Arc::clone(&self.view) as Arc<Mutex<dyn View>>
    }

    fn refresh(&self) -> Result<(), RegistryError> {
        self.access()
    }

    fn observe(&self, commitment: Fr) -> Result<Observation, RegistryError> {
        self.access()?;
        let script = self.script.lock();
        let mut members = script.members.iter();
        let found = members.find(|member| member.commitment == commitment);
        Ok(Observation {
            found: found.map(|member| FoundMember {
                member: *member,
                lifecycle: script.lifecycle,
            }),
            as_of_ns: script.as_of_ns,
        })
    }

    fn submit(
        &self,
        commitment: Fr,
        rate_limit: u32,
        _: &RegistrationOptions,
    ) -> Result<(), SubmitError> {
        let answer = {
            let mut script = self.script.lock();
            script.submissions += 1;
            script.answer
        };
        match answer {
            Answer::Apply => self.apply(commitment, rate_limit),
            Answer::Shelve => self.script.lock().shelved.push((commitment, rate_limit)),
            Answer::Refuse => return Err(SubmitError::Refused("too poor".into())),
            Answer::Unsent => return Err(SubmitError::NotSent("no line".into())),
            Answer::Lose => {
                self.apply(commitment, rate_limit);
                return Err(SubmitError::OutcomeUnknown("line broke".into()));
            }
        }
        Ok(())
    }
}

impl View for ScriptedView {
    fn roots(&self) -> &RootWindow {
        &self.roots
    }

    fn revision(&self) -> u64 {
        0
    }

    fn version(&self) -> Option<Version> {
        None
    }

    fn members(&self) -> Option<usize> {
        None
    }

    fn path(&self, index: MemberIndex) -> Option<MerklePath> {
        self.tree.path(index.get()).ok()
    }
}
