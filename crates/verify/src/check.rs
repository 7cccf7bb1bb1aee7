//! One program, several properties: the state space is built once, then each is looked at.

use strait_calculus::{ObjectId, Program, Span, Waiting, Want, Wish};
use strait_explore::Coverage;

use crate::checks;
use crate::fenced::{Unfenced, unfenced};
use crate::model::{Budget, Model};
use crate::property::Property;
use crate::tell;
use crate::verdict::{Places, Verdict};

/// What is known about a program.
pub struct Verification {
    /// Each property that was asked for.
    pub verdicts: Vec<(Property, Verdict)>,
    /// The state space and its machine.
    pub model: Model,
    /// What keeps the program from being of finite control (paper 003, section 4): then its states
    /// may be without end.
    pub unfenced: Vec<Unfenced>,
}

impl Verification {
    /// Was everything seen?
    pub fn coverage(&self) -> &Coverage {
        &self.model.space.coverage
    }
}

/// What the checks look at.
pub(crate) struct Subject<'a> {
    pub(crate) model: &'a Model,
    pub(crate) program: &'a Program,
    pub(crate) places: &'a dyn Places,
    pub(crate) unfenced: &'a [Unfenced],
}

/// Checks properties of a checked program.
pub fn verify(
    program: &Program,
    properties: &[Property],
    budget: &Budget<'_>,
    places: &dyn Places,
) -> Verification {
    let unfenced = unfenced(program);
    let model = Model::explore(program, budget);
    let subject = Subject { model: &model, program, places, unfenced: &unfenced };
    let verdicts =
        properties.iter().map(|property| (*property, subject.check(*property))).collect();
    Verification { verdicts, model, unfenced }
}

/// Checks one property on a model that is there already.
pub fn check_property(
    program: &Program,
    model: &Model,
    property: Property,
    places: &dyn Places,
) -> Verdict {
    Subject { model, program, places, unfenced: &unfenced(program) }.check(property)
}

impl Subject<'_> {
    fn check(&self, property: Property) -> Verdict {
        match property {
            Property::NoDeadlock => checks::deadlock::check(self),
            Property::Live => checks::live::check(self),
            Property::ChannelSafe => checks::faults::channel_safe(self),
            Property::EventualReception => checks::reception::check(self),
            Property::MutexSafe => checks::mutex::check(self),
            Property::WaitGroupSafe => checks::faults::waitgroup_safe(self),
            Property::NoTerminal => checks::deadlock::no_terminal(self),
            Property::NoCycle => checks::cycle::check(self),
        }
    }

    /// The word for not having found anything wrong.
    pub(crate) fn nothing_found(&self) -> Verdict {
        match &self.model.space.coverage {
            Coverage::Exhaustive => Verdict::holds(""),
            other => {
                let mut why = format!("nothing wrong in what was seen, which is {other}");
                if let Some(first) = self.unfenced.first() {
                    let place = tell::at(self.places, first.span);
                    why.push_str(&format!("; not of finite control: {}{place}", first.what));
                }
                Verdict::unknown(why)
            }
        }
    }

    /// What people call an object.
    pub(crate) fn name(&self, object: ObjectId) -> String {
        self.places.name(&self.model.machine.object_name(object))
    }

    /// Is this a place in the source that people know?
    pub(crate) fn concerns(&self, span: Span) -> bool {
        self.places.place(span).is_some()
    }

    /// Is it a fault if somebody waits here for ever?
    pub(crate) fn must_go_on(&self, waiting: &Waiting) -> bool {
        // A daemon is there for others. That it cannot get a lock is a fault all the same.
        let locked = |want: &Want| matches!(want.wish, Wish::Lock | Wish::ReadLock);
        let idles = self.places.idles(waiting.span) && !waiting.wants.iter().any(locked);
        self.concerns(waiting.span) && !idles
    }

    /// A verdict that something is wrong in a state.
    pub(crate) fn broken(
        &self,
        state: u32,
        why: String,
        culprits: Vec<crate::verdict::Culprit>,
    ) -> Verdict {
        let way = self.model.way(state);
        let trace = tell::trace(&self.model.machine, way, None, self.places);
        let why = why + &choices(&trace, self.places);
        Verdict { holds: Some(false), why, trace: Some(trace), culprits }
    }
}

/// Which internal choices a trace takes: in the program behind the model, data decides them.
pub(crate) fn choices(trace: &crate::verdict::Trace, places: &dyn Places) -> String {
    const SHOWN: usize = 3;
    if trace.choices == 0 {
        return String::new();
    }
    let mut taken: Vec<String> = Vec::new();
    for step in trace.steps.iter().filter(|step| step.choice) {
        let place = places.place(step.span).unwrap_or_default();
        let text = format!("{place} {}", step.action);
        if !taken.contains(&text) {
            taken.push(text);
        }
    }
    let more = taken.len().saturating_sub(SHOWN);
    taken.truncate(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(", if the data allows these choices: {}{more}", taken.join(", "))
}
