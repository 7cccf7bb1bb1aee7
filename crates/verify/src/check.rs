//! One program, several properties: the state space is built once, then each is looked at.

use strait_calculus::{Action, ObjectId, ProcId, Program, Span, Waiting, Want, Wish};
use strait_explore::Coverage;

use crate::checks;
use crate::finite_control::{UnboundedCreation, unbounded_creations};
use crate::model::{Budget, Model};
use crate::places::Places;
use crate::property::Property;
use crate::tell::{self, Names};
use crate::verdict::{Culprit, Trace, Unknown, Verdict, Violation, Why};

/// What is known about a program.
pub struct Verification<'a> {
    /// Each property that was asked for.
    pub verdicts: Vec<(Property, Verdict)>,
    /// The state space and its machine.
    pub model: Model<'a>,
    /// What keeps the program from being of finite control (Lange et al., ICSE 2018, section 4): then its states
    /// may be without end.
    pub unbounded_creations: Vec<UnboundedCreation>,
}

impl Verification<'_> {
    /// Was everything seen?
    pub fn coverage(&self) -> &Coverage {
        &self.model.space.coverage
    }
}

/// What the checks look at.
pub(crate) struct Subject<'a> {
    pub(crate) model: &'a Model<'a>,
    pub(crate) program: &'a Program,
    pub(crate) places: &'a dyn Places,
    pub(crate) unbounded_creations: &'a [UnboundedCreation],
    /// The first panic that the program recovers, as a place.
    recovered: Option<String>,
}

/// Checks properties of a checked program.
pub fn verify<'a>(
    program: &Program,
    properties: &[Property],
    budget: &Budget<'a>,
    places: &dyn Places,
) -> Verification<'a> {
    let unbounded_creations = unbounded_creations(program);
    let model = Model::explore(program, budget);
    let subject = Subject::new(&model, program, places, &unbounded_creations);
    // Where time is short, a pass over the states comes before what needs the whole graph.
    let (quick, slow): (Vec<usize>, Vec<usize>) =
        (0..properties.len()).partition(|at| needs_no_graph(properties[*at]));
    let mut verdicts: Vec<(usize, Verdict)> = quick
        .into_iter()
        .chain(slow)
        .map(|position| (position, subject.check(properties[position])))
        .collect();
    verdicts.sort_by_key(|(position, _)| *position);
    let verdicts =
        verdicts.into_iter().map(|(position, verdict)| (properties[position], verdict)).collect();
    Verification { verdicts, model, unbounded_creations }
}

/// Is the property checked state by state?
fn needs_no_graph(property: Property) -> bool {
    match property {
        Property::NoDeadlock
        | Property::ChannelSafe
        | Property::WaitGroupSafe
        | Property::NoTerminal => true,
        Property::NoLeak
        | Property::Live
        | Property::MutexSafe
        | Property::LocksReleased
        | Property::EventualReception
        | Property::NoCycle => false,
    }
}

/// Checks one property on a model that is there already.
pub fn check_property(
    program: &Program,
    model: &Model<'_>,
    property: Property,
    places: &dyn Places,
) -> Verdict {
    Subject::new(model, program, places, &unbounded_creations(program)).check(property)
}

impl<'a> Subject<'a> {
    fn new(
        model: &'a Model<'a>,
        program: &'a Program,
        places: &'a dyn Places,
        unbounded_creations: &'a [UnboundedCreation],
    ) -> Subject<'a> {
        let recovered = recovered_panic(model, places);
        Subject { model, program, places, unbounded_creations, recovered }
    }

    fn check(&self, property: Property) -> Verdict {
        // A loop that was ended early has no result, whatever it looks like.
        if let Some(limit) = self.model.watch.over() {
            return Verdict::unknown(Unknown::CheckEnded(limit));
        }
        let mut verdict = self.check_all(property);
        let untracked = verdict.trace.as_ref().and_then(|trace| self.untracked_choice(trace));
        if untracked.is_some() && !checks::certain::is_certain(self, property) {
            verdict.untracked = untracked;
        }
        match self.model.watch.has_cut() {
            Some(limit) => Verdict::unknown(Unknown::CheckEnded(limit)),
            None => verdict,
        }
    }

    /// The first choice of a trace that stands for data which was not followed, as a place.
    fn untracked_choice(&self, trace: &Trace) -> Option<String> {
        let mut choices = trace.steps.iter().filter(|step| step.action.is_choice());
        let step = choices.find(|step| self.places.untracked(step.span))?;
        Some(step.place.clone().unwrap_or_default())
    }

    fn check_all(&self, property: Property) -> Verdict {
        match property {
            Property::NoDeadlock => checks::deadlock::check(self),
            Property::NoLeak => checks::leak::check(self),
            Property::Live => checks::live::check(self),
            Property::ChannelSafe => checks::faults::channel_safe(self),
            Property::EventualReception => checks::reception::check(self),
            Property::MutexSafe => checks::mutex::check(self),
            Property::WaitGroupSafe => checks::faults::waitgroup_safe(self),
            Property::LocksReleased => checks::locks::check(self),
            Property::NoTerminal => checks::deadlock::no_terminal(self),
            Property::NoCycle => checks::cycle::check(self),
        }
    }

    /// The answer when nothing wrong was found.
    pub(crate) fn nothing_found(&self) -> Verdict {
        if let Some(bound) = self.model.bound() {
            let infinite = self
                .unbounded_creations
                .first()
                .map(|first| format!("{}{}", first.what, tell::at(self.places, first.span)));
            return Verdict::unknown(Unknown::StatesLeft { bound, infinite });
        }
        match &self.recovered {
            Some(place) => Verdict::unknown(Unknown::RecoveredPanic { place: place.clone() }),
            None => Verdict::proved(),
        }
    }

    /// Does the program recover the panic that ends the execution in this state?
    pub(crate) fn is_recovered(&self, state: u32) -> bool {
        self.recovered.is_some() && recovered_at(self.model, self.places, state).is_some()
    }

    /// What people call an object.
    pub(crate) fn name(&self, object: ObjectId) -> String {
        self.places.name(&self.model.machine.object_name(object))
    }

    /// Is this a place in the source that people know?
    pub(crate) fn concerns(&self, span: Span) -> bool {
        self.places.place(span).is_some()
    }

    /// Is it a fault if a process waits here forever?
    pub(crate) fn must_go_on(&self, waiting: &Waiting) -> bool {
        // A daemon is there for others. That it cannot get a lock is a fault all the same.
        let locked = |want: &Want| matches!(want.wish, Wish::Lock | Wish::ReadLock);
        let idles = self.places.idles(waiting.span) && !waiting.wants.iter().any(locked);
        self.concerns(waiting.span) && !idles
    }

    /// Is this an empty select that is meant to wait? In a test it is not: the test never ends.
    pub(crate) fn is_meant(&self, waiting: &Waiting) -> bool {
        let is_main = waiting.process == ProcId(0);
        waiting.wants.is_empty() && (!is_main || self.places.may_serve())
    }

    /// Processes that wait in a state.
    pub(crate) fn culprits(&self, state: u32, waiting: Vec<&Waiting>) -> Vec<Culprit> {
        let machine = &self.model.machine;
        let names = Names::on(machine, &self.model.way(state), self.places);
        let waiting = waiting.into_iter();
        waiting.map(|one| tell::culprit(machine, one, self.places, &names)).collect()
    }

    /// A verdict that something is wrong in a state.
    pub(crate) fn broken(
        &self,
        state: u32,
        violation: Violation,
        culprits: Vec<Culprit>,
    ) -> Verdict {
        self.broken_after(self.model.way(state), violation, culprits)
    }

    /// A verdict that something is wrong after these steps.
    pub(crate) fn broken_after(
        &self,
        way: Vec<Action>,
        violation: Violation,
        culprits: Vec<Culprit>,
    ) -> Verdict {
        let trace = tell::trace(&self.model.machine, way, None, self.places);
        Verdict { trace: Some(trace), culprits, ..Verdict::because(Why::Violated(violation)) }
    }
}

/// The place of the nearest panic that the program recovers. What follows it is not in the model.
pub(crate) fn recovered_panic(model: &Model<'_>, places: &dyn Places) -> Option<String> {
    model.ended().find_map(|state| recovered_at(model, places, state))
}

fn recovered_at(model: &Model<'_>, places: &dyn Places, state: u32) -> Option<String> {
    let panics = model.machine.panics(&model.state(state)).into_iter();
    let mut recovered = panics.filter(|panic| places.recovers(panic.span));
    recovered.find_map(|panic| places.place(panic.span))
}
