//! A program that runs: the tables that number its states, and for each search thread a cache of
//! what it has looked up, so that a step is a few look-ups and no evaluation.
//!
//! Between two visible operations a process runs by itself (see `local`); creating channels and
//! spawning belong to that, since nobody else can notice them. A panic stops its process for good
//! and lets the others run on: every panic that can come first is then found in some final state.

use std::cell::{Ref, RefCell, RefMut};
use std::sync::{Arc, Mutex, MutexGuard};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::explain::observation::Observation;
use crate::language::ast::Program;
use crate::language::index::{Idx, ObjectId, ProcId};
use crate::machine::code::Code;
use crate::machine::compact::CompactTables;
use crate::machine::compile::compile;
use crate::machine::menu::Menu;
use crate::machine::moves::{Move, Stimulus, Treatment};
use crate::machine::object::Object;
use crate::machine::tables::Tables;

/// How much of an execution becomes part of its outcome.
#[derive(Clone, Debug)]
pub enum Recording {
    /// Nothing: only the verdict matters.
    Nothing,
    /// What `observe` statements say.
    Observed,
    /// Every message, choice and `observe`.
    Everything,
    /// Nothing, and steps that contradict this observation do not exist.
    Against(Arc<Observation>),
    /// Nothing, and steps after which a process would not begin with what this observation says of
    /// it do not exist. What a process sees after that is free.
    Beginning(Arc<Observation>),
}

impl Recording {
    /// Are there steps that do not exist because of an observation?
    pub(crate) fn refutes(&self) -> bool {
        matches!(self, Recording::Against(_) | Recording::Beginning(_))
    }
}

/// A state of a running program: for each process and object the number of its state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    pub(crate) procs: Row,
    pub(crate) objects: Row,
    /// Is this known to be written with half a byte a process and nothing else?
    pub(crate) compact: bool,
}

/// Numbers of states; most programs have few processes and objects.
type Row = SmallVec<[u32; 32]>;

impl State {
    pub(crate) fn proc(&self, process: ProcId) -> u32 {
        self.procs.get(process.position()).copied().unwrap_or(0)
    }

    pub(crate) fn object(&self, object: ObjectId) -> u32 {
        self.objects.get(object.position()).copied().unwrap_or(0)
    }

    pub(crate) fn set_proc(&mut self, process: ProcId, number: u32) {
        set(&mut self.procs, process.position(), number);
    }

    pub(crate) fn set_object(&mut self, object: ObjectId, number: u32) {
        set(&mut self.objects, object.position(), number);
    }

    /// The processes that exist, each with the number of its state.
    pub fn processes(&self) -> impl Iterator<Item = (ProcId, u32)> + '_ {
        let numbered = self.procs.iter().enumerate().filter(|(_, number)| **number != 0);
        numbered.map(|(position, number)| (ProcId::new(position), *number))
    }
}

fn set(row: &mut Row, position: usize, number: u32) {
    if row.len() <= position {
        row.resize(position + 1, 0);
    }
    row[position] = number;
}

/// A program that runs. Clones share the tables.
#[derive(Debug)]
pub struct Machine {
    pub(crate) shared: Arc<Shared>,
    cache: RefCell<Cache>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) code: Arc<Code>,
    pub(crate) recording: Recording,
    pub(crate) symmetry: bool,
    tables: Mutex<Tables>,
}

/// What each stimulus so far makes of one process state.
type Moves = Vec<KnownMove>;

/// What a stimulus makes of a process state.
#[derive(Debug)]
struct KnownMove {
    stimulus: Stimulus,
    found: Box<Move>,
}

/// What one search thread has looked up.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    menus: Vec<Vec<Option<Box<Menu>>>>,
    objects: Vec<Vec<Option<Box<Object>>>>,
    /// By process and state: what each stimulus makes of it. Few stimuli are possible in a state.
    moves: Vec<Vec<Moves>>,
    births: Vec<Arc<[ProcId]>>,
    treatments: HashMap<(ObjectId, u32, Treatment), u32, FxBuildHasher>,
    pub(crate) compact: CompactTables,
}

impl Clone for Machine {
    fn clone(&self) -> Self {
        Machine { shared: Arc::clone(&self.shared), cache: RefCell::default() }
    }
}

impl Machine {
    /// A machine for a checked program.
    pub fn new(program: &Program, recording: Recording) -> Machine {
        Machine::with_symmetry(program, recording, false)
    }

    /// A machine that may take states for equal which differ only in who of several
    /// interchangeable processes is where.
    pub fn with_symmetry(program: &Program, recording: Recording, symmetry: bool) -> Machine {
        Machine::from_code(Arc::new(compile(program)), recording, symmetry)
    }

    /// A machine for verdicts and outcomes: it records what `observe` says if the program contains
    /// that, else everything.
    pub fn for_outcomes(program: &Program, symmetry: bool) -> Machine {
        let code = Arc::new(compile(program));
        let recording = if code.observes { Recording::Observed } else { Recording::Everything };
        Machine::from_code(code, recording, symmetry)
    }

    /// A machine for the same program that records nothing.
    pub fn without_recording(&self) -> Machine {
        Machine::from_code(Arc::clone(&self.shared.code), Recording::Nothing, self.shared.symmetry)
    }

    /// A machine for the same program, recording the same, that has seen nothing yet.
    pub fn fresh(&self) -> Machine {
        let shared = &self.shared;
        Machine::from_code(Arc::clone(&shared.code), shared.recording.clone(), shared.symmetry)
    }

    pub(crate) fn from_code(code: Arc<Code>, recording: Recording, symmetry: bool) -> Machine {
        let tables = Mutex::new(Tables::new(symmetry));
        let shared = Arc::new(Shared { code, recording, symmetry, tables });
        Machine { shared, cache: RefCell::default() }
    }

    /// The instructions.
    pub fn code(&self) -> &Code {
        &self.shared.code
    }

    pub(crate) fn tables(&self) -> MutexGuard<'_, Tables> {
        // A panic of another search thread is reported there; the tables stay consistent, because
        // nothing in them is ever half changed.
        self.shared.tables.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The cache, with the menus of all processes and the states of all objects of this state in it.
    pub(crate) fn warm_cache(&self, state: &State) -> Ref<'_, Cache> {
        let cache = self.cache.borrow();
        let objects = state.objects.iter().enumerate();
        let known = state.processes().all(|(process, number)| cache.has_menu(process, number))
            && objects
                .clone()
                .all(|(object, number)| cache.has_object(ObjectId::new(object), *number));
        if known {
            return cache;
        }
        drop(cache);
        let mut cache = self.cache.borrow_mut();
        let tables = self.tables();
        for (process, number) in state.processes() {
            cache.load_menu(&self.shared.code, &tables, process, number);
        }
        for (object, number) in objects {
            cache.load_object(&tables, ObjectId::new(object), *number);
        }
        drop(cache);
        self.cache.borrow()
    }

    /// The cache with this one menu in it.
    pub(crate) fn warm_cache_of(&self, process: ProcId, number: u32) -> Ref<'_, Cache> {
        let cache = self.cache.borrow();
        if cache.has_menu(process, number) {
            return cache;
        }
        drop(cache);
        let tables = self.tables();
        self.cache.borrow_mut().load_menu(&self.shared.code, &tables, process, number);
        self.cache.borrow()
    }

    /// The processes of a number that stands for births.
    pub(crate) fn births(&self, number: u32) -> Arc<[ProcId]> {
        let mut cache = self.cache.borrow_mut();
        if cache.births.len() <= number as usize {
            let tables = self.tables();
            let known = cache.births.len()..tables.births.len();
            cache.births.extend(known.map(|number| Arc::clone(tables.births.value(number as u32))));
        }
        Arc::clone(&cache.births[number as usize])
    }

    /// What a stimulus makes of a process, computed or remembered.
    pub(crate) fn with_move<R>(
        &self,
        process: ProcId,
        number: u32,
        stimulus: Stimulus,
        look: impl FnOnce(&Move) -> R,
    ) -> R {
        let mut cache = self.cache.borrow_mut();
        let known = cell(&mut cache.moves, process.position(), number);
        if let Some(known) = known.iter().find(|known| known.stimulus == stimulus) {
            return look(&known.found);
        }
        let found = Box::new(self.compute_move(process, number, stimulus));
        let result = look(&found);
        known.push(KnownMove { stimulus, found });
        result
    }

    /// The cache as it is.
    #[inline]
    pub(crate) fn cache(&self) -> Ref<'_, Cache> {
        self.cache.borrow()
    }

    /// The cache, to be changed.
    pub(crate) fn cache_mut(&self) -> RefMut<'_, Cache> {
        self.cache.borrow_mut()
    }

    /// What a step makes of an object, computed or remembered.
    pub(crate) fn treated(&self, object: ObjectId, number: u32, treatment: Treatment) -> u32 {
        let mut cache = self.cache.borrow_mut();
        let key = (object, number, treatment);
        let compute = || self.compute_treatment(object, number, treatment);
        *cache.treatments.entry(key).or_insert_with(compute)
    }
}

/// A place in a table that grows as needed.
fn cell<T: Default>(rows: &mut Vec<Vec<T>>, row: usize, number: u32) -> &mut T {
    if rows.len() <= row {
        rows.resize_with(row + 1, Vec::new);
    }
    let row = &mut rows[row];
    if row.len() <= number as usize {
        row.resize_with(number as usize + 1, T::default);
    }
    &mut row[number as usize]
}

fn known<T>(rows: &[Vec<Option<Box<T>>>], row: usize, number: u32) -> Option<&T> {
    rows.get(row)?.get(number as usize)?.as_deref()
}

impl Cache {
    fn has_menu(&self, process: ProcId, number: u32) -> bool {
        known(&self.menus, process.position(), number).is_some()
    }

    fn has_object(&self, object: ObjectId, number: u32) -> bool {
        known(&self.objects, object.position(), number).is_some()
    }

    /// Looks up a menu, and the first states of the objects it speaks of: a state does not list
    /// those that are still in their first state.
    fn load_menu(&mut self, code: &Code, tables: &Tables, process: ProcId, number: u32) {
        if self.has_menu(process, number) {
            return;
        }
        let Some(local) = tables.local_state(process, number) else { return };
        let mut menu = Menu::new(code, local);
        for offer in &mut menu.offers {
            let first = offer.object.map(|object| tables.object_states[object].value(0));
            offer.meets_at_first = first.is_some_and(Object::is_open_rendezvous);
        }
        let offered = menu.offers.iter().filter_map(|offer| offer.object);
        let guards = menu.guards.iter().flat_map(|guarded| guarded.after.iter());
        for object in offered.chain(guards.map(|(object, _)| *object)) {
            self.load_object(tables, object, 0);
        }
        self.compact.learn_menu(process, number, &menu);
        *cell(&mut self.menus, process.position(), number) = Some(Box::new(menu));
    }

    fn load_object(&mut self, tables: &Tables, object: ObjectId, number: u32) {
        if !self.has_object(object, number) {
            let state = tables.object_states[object].value(number).clone();
            *cell(&mut self.objects, object.position(), number) = Some(Box::new(state));
        }
    }

    /// The menu of a process state that has been loaded.
    pub(crate) fn menu(&self, process: ProcId, number: u32) -> &Menu {
        known(&self.menus, process.position(), number).expect("loaded by warm_cache")
    }

    /// An object state that has been loaded.
    pub(crate) fn object(&self, object: ObjectId, number: u32) -> &Object {
        known(&self.objects, object.position(), number).expect("loaded by warm_cache")
    }
}
