//! Numbers for what recurs: processes, objects, their states and histories. A state of the program
//! is then a row of small numbers, and a step is a look-up.
//!
//! All search threads share one set of tables; each keeps what it has looked up (see `machine`).

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smol_str::SmolStr;

use crate::explain::observation::Event;
use crate::language::index::{FuncId, IndexVec, ObjectId, ProcId, VarId};
use crate::machine::local::Local;
use crate::machine::object::Object;

/// Values with consecutive numbers.
#[derive(Debug)]
pub struct Interner<T> {
    numbers: HashMap<T, u32, FxBuildHasher>,
    values: Vec<T>,
}

impl<T: Clone + Eq + std::hash::Hash> Interner<T> {
    /// Number 0 is taken by the first value.
    pub fn starting_with(first: T) -> Self {
        let mut interner = Interner { numbers: HashMap::default(), values: Vec::new() };
        interner.number(first);
        interner
    }

    /// The number of a value, a new one if it has none.
    pub fn number(&mut self, value: T) -> u32 {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        let number = self.values.len() as u32;
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        number
    }

    /// The value of a number.
    pub fn value(&self, number: u32) -> &T {
        &self.values[number as usize]
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }
}

/// What is known of a process besides its state.
#[derive(Clone, Debug)]
pub struct ProcInfo {
    /// Who spawned it, and as which child; none for `main`.
    pub parent: Option<(ProcId, u32)>,
    /// The name given in the program.
    pub given_name: Option<SmolStr>,
}

/// One link of a history: what came before, what was seen, which variable was bound.
pub type Link = (u32, Event, Option<(FuncId, VarId)>);

/// The shared tables.
#[derive(Debug)]
pub struct Tables {
    /// The n-th child may have different names on different ways.
    proc_numbers: HashMap<(ProcId, u32, Option<SmolStr>), ProcId, FxBuildHasher>,
    object_numbers: HashMap<(ProcId, u32), ObjectId, FxBuildHasher>,
    /// Every process that was ever seen.
    pub procs: IndexVec<ProcId, ProcInfo>,
    /// The variable that held each object first.
    pub holders: IndexVec<ObjectId, (FuncId, VarId)>,
    /// The states of each process; number 0 is that it does not exist. With symmetry all processes
    /// share the first table, so that their numbers can be compared.
    locals: IndexVec<ProcId, Interner<Option<Local>>>,
    symmetry: bool,
    /// The states of each object. Number 0 is the one it is created in, as far as that is always
    /// the same; it also stands for not being created yet, when nobody can look at it.
    pub object_states: IndexVec<ObjectId, Interner<Object>>,
    /// What processes have seen; number 0 is nothing.
    pub histories: Interner<Option<Link>>,
    /// Which processes one step spawns; number 0 is none.
    pub births: Interner<Arc<[ProcId]>>,
    /// Bytes in use, roughly.
    pub bytes: usize,
}

impl Tables {
    /// Tables with nothing but the main process.
    pub fn new(symmetry: bool) -> Self {
        let mut tables = Tables {
            proc_numbers: HashMap::default(),
            object_numbers: HashMap::default(),
            procs: IndexVec::new(),
            holders: IndexVec::new(),
            locals: IndexVec::new(),
            symmetry,
            object_states: IndexVec::new(),
            histories: Interner::starting_with(None),
            births: Interner::starting_with(Arc::from([])),
            bytes: 0,
        };
        tables.procs.push(ProcInfo { parent: None, given_name: None });
        tables.locals.push(Interner::starting_with(None));
        tables
    }

    /// The process that is the n-th child of another.
    pub fn child(&mut self, parent: ProcId, number: u32, given_name: Option<&SmolStr>) -> ProcId {
        let given_name = given_name.cloned();
        let key = (parent, number, given_name.clone());
        if let Some(child) = self.proc_numbers.get(&key) {
            return *child;
        }
        let child = self.procs.push(ProcInfo { parent: Some((parent, number)), given_name });
        self.locals.push(Interner::starting_with(None));
        self.proc_numbers.insert(key, child);
        self.bytes += 256;
        child
    }

    /// The object that is the n-th of a process.
    pub fn object(
        &mut self,
        creator: ProcId,
        number: u32,
        holder: (FuncId, VarId),
        first: &Object,
    ) -> ObjectId {
        if let Some(object) = self.object_numbers.get(&(creator, number)) {
            return *object;
        }
        let object = self.holders.push(holder);
        self.object_states.push(Interner::starting_with(first.clone()));
        self.object_numbers.insert((creator, number), object);
        self.bytes += 256;
        object
    }

    /// The state of a process; `None` if it does not exist.
    pub fn local_state(&self, process: ProcId, number: u32) -> Option<&Local> {
        let table = if self.symmetry { ProcId(0) } else { process };
        self.locals[table].value(number).as_ref()
    }

    /// The number of a process state.
    pub fn local(&mut self, process: ProcId, local: Local) -> u32 {
        let table = if self.symmetry { ProcId(0) } else { process };
        let interner = &mut self.locals[table];
        let before = interner.len();
        // Each local state is held twice here, and its menu and moves once a search thread.
        let frames = local.frames.len();
        let variables: usize = local.frames.iter().map(|frame| frame.variables.len()).sum();
        let number = interner.number(Some(local));
        if interner.len() > before {
            self.bytes += 2 * (160 + 96 * frames + 24 * variables) + 512;
        }
        number
    }

    /// The number of an object state.
    pub fn object_state(&mut self, object: ObjectId, state: Object) -> u32 {
        let interner = &mut self.object_states[object];
        let before = interner.len();
        let messages = match &state {
            Object::Channel(channel) => channel.messages.len(),
            _ => 0,
        };
        let number = interner.number(state);
        // Held twice here and once a search thread.
        self.bytes += (interner.len() - before) * (256 + 96 * messages);
        number
    }

    /// The history that follows another by one event.
    pub fn history(&mut self, link: Link) -> u32 {
        let before = self.histories.len();
        let number = self.histories.number(Some(link));
        self.bytes += (self.histories.len() - before) * 96;
        number
    }

    /// The events of a history, oldest first.
    pub fn events(&self, mut history: u32) -> Vec<(Event, Option<(FuncId, VarId)>)> {
        let mut events = Vec::new();
        while let Some((before, event, label)) = self.histories.value(history) {
            events.push((*event, *label));
            history = *before;
        }
        events.reverse();
        events
    }

    /// The name of a process: `main`, `main.1`, `main.1.2`, whatever else it is called.
    pub fn path(&self, process: ProcId) -> String {
        let mut path = String::from("main");
        for number in self.path_numbers(process) {
            path.push('.');
            path.push_str(&number.to_string());
        }
        path
    }

    /// What people call a process: the name given at its spawn, or its path.
    pub fn name(&self, process: ProcId) -> String {
        match self.procs.get(process).and_then(|info| info.given_name.as_ref()) {
            Some(name) => name.to_string(),
            None => self.path(process),
        }
    }

    /// The numbers of a process's path, which order processes for people: main, its first child,
    /// that child's children, its second child.
    pub fn path_numbers(&self, process: ProcId) -> Vec<u32> {
        let mut numbers = Vec::new();
        let mut current = process;
        while let Some((parent, number)) = self.procs.get(current).and_then(|info| info.parent) {
            numbers.push(number);
            current = parent;
        }
        numbers.reverse();
        numbers
    }
}
