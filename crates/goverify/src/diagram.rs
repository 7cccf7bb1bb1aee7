//! The trace of a violated property as a space-time diagram: one lane per goroutine, with lines of Go source.

use strait_calculus::Span;
use strait_diagram::{ArrowKind, Diagram, End, EndState, EventId, SourcePlace, Tracker};
use strait_verify::{Culprit, Doing, StepAction, Trace, TraceStep, Verdict, Wait};

use crate::answer::Checked;
use crate::findings::GoFinding;
use crate::places::Locate;
use crate::silence::SourceFiles;

/// The most steps that are drawn.
const STEPS: usize = 20_000;

/// The diagram of a finding; `None` if its trace does not lead to it.
pub fn diagram(finding: &GoFinding, checked: &[Checked], files: &SourceFiles) -> Option<Diagram> {
    let (entry, answer) = finding.shown;
    let entry = checked.get(entry)?;
    let verdict = &entry.answers.get(answer)?.verdict;
    let trace = verdict.trace.as_ref().filter(|_| finding.traced)?;
    let title = format!("{}: {}", entry.entry, finding.kind);
    let mut drawing = Drawing {
        places: entry.places.as_ref(),
        files,
        diagram: Diagram::new(title),
        tracker: Tracker::default(),
    };
    drawing.diagram.description = finding.message.clone();
    for (position, step) in trace.steps.iter().take(STEPS).enumerate() {
        drawing.step(step, trace.cycle == Some(position));
    }
    let forever = waiting_forever(verdict, trace);
    for one in &trace.left {
        drawing.end(one, forever.contains(&one.process.as_str()));
    }
    Some(drawing.diagram)
}

/// The processes that wait forever after the trace: those that the verdict names, and all if no process can move.
fn waiting_forever<'a>(verdict: &'a Verdict, trace: &'a Trace) -> Vec<&'a str> {
    let waits = |one: &&Culprit| one.doing.is_waiting();
    let is_over = trace.cycle.is_none() && trace.left.iter().all(|one| one.doing.is_waiting());
    let names = |list: &'a [Culprit]| list.iter().filter(waits).map(|one| one.process.as_str());
    match (is_over, verdict.is_about_waiting()) {
        (true, _) => names(&trace.left).collect(),
        (false, true) => names(&verdict.culprits).collect(),
        (false, false) => vec![],
    }
}

struct Drawing<'a> {
    places: &'a dyn Locate,
    files: &'a SourceFiles,
    diagram: Diagram,
    tracker: Tracker,
}

impl Drawing<'_> {
    /// The place of a span, and the line of the source there.
    fn place(&self, span: Span) -> (Option<SourcePlace>, Option<String>) {
        let Some(position) = self.places.position(span) else { return (None, None) };
        let quoted = self.files.line(&position);
        let quoted = quoted.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
        (Some(SourcePlace { file: Some(position.file), line: position.line }), quoted)
    }

    fn step(&mut self, step: &TraceStep, repeats: bool) {
        let lane = self.diagram.lane(&step.process);
        let (place, quoted) = self.place(step.span);
        let round = if repeats { " (repeats from here)" } else { "" };
        let words = match (&step.action, quoted) {
            // What was chosen is not in the line.
            (StepAction::Branch(_) | StepAction::Timeout | StepAction::Default, _)
            | (StepAction::Panics { .. }, _)
            | (_, None) => step.action.to_string(),
            (_, Some(quoted)) => quoted,
        };
        let event = self.diagram.event(lane, format!("{words}{round}"), place);
        let Drawing { diagram, tracker, .. } = self;
        match &step.action {
            StepAction::Starts(process) => {
                diagram.start(event, process);
            }
            StepAction::SendsTo { channel, receiver } => {
                let span = step.partner.as_ref().map(|(_, span)| *span);
                self.meet(event, channel, receiver, span);
            }
            StepAction::Puts(channel) => tracker.sent(channel, event),
            StepAction::Gets(channel) => tracker.received(diagram, channel, event, channel),
            StepAction::GetsClosed(channel) => tracker.found_closed(diagram, channel, event),
            StepAction::Closes(channel) => tracker.closed(channel, event),
            StepAction::Locks(lock) | StepAction::ReadLocks(lock) => diagram.acquire(event, lock),
            StepAction::Unlocks(lock) | StepAction::ReadUnlocks(lock) => {
                diagram.release(event, lock);
            }
            StepAction::Adds(group) => tracker.changed(group, event),
            StepAction::PassesWait(group) => tracker.passed(diagram, group, event),
            StepAction::Panics { .. } => {
                diagram.mark_bad(event);
                let end = &diagram.events[event.index()];
                let end = End::new(EndState::Panicked, end.label.clone(), end.place.clone());
                diagram.end(lane, end);
            }
            StepAction::PutsLost(_)
            | StepAction::Abandons(_)
            | StepAction::Timeout
            | StepAction::Default
            | StepAction::Branch(_)
            | StepAction::Announces(_) => {}
        }
    }

    /// The other side of a rendezvous.
    fn meet(&mut self, sent: EventId, channel: &str, receiver: &str, span: Option<Span>) {
        let lane = self.diagram.lane(receiver);
        let (place, quoted) = span.map_or((None, None), |span| self.place(span));
        let words = quoted.unwrap_or_else(|| format!("receives from {channel}"));
        let received = self.diagram.event_beside(sent, lane, words, place);
        self.diagram.arrow(sent, received, ArrowKind::Message, channel);
    }

    fn end(&mut self, one: &Culprit, forever: bool) {
        let lane = self.diagram.lane(&one.process);
        let (place, quoted) = self.place(one.span);
        let state = match &one.doing {
            Doing::Waits(_) if forever => EndState::Waiting,
            // Another process may unblock it.
            Doing::Waits(_) => EndState::Blocked,
            Doing::Spins => EndState::Spinning,
            Doing::Panics { .. } | Doing::Panicked(_) => EndState::Panicked,
            Doing::CanGoOn
            | Doing::AddsTo(_)
            | Doing::MayPassWait(_)
            | Doing::KeepsLock(_)
            | Doing::HoldsMessage => EndState::Running,
        };
        let words = one.doing.to_string();
        let label = match quoted {
            Some(quoted) if one.doing.is_waiting() => format!("{words}: {quoted}"),
            _ => words,
        };
        self.diagram.end(lane, End::new(state, label, place));
        if let Doing::Waits(Wait::Lock(lock) | Wait::ReadLock(lock) | Wait::OwnLock(lock)) =
            &one.doing
        {
            for holder in self.diagram.holders(lock) {
                self.diagram.wait(lane, holder, lock);
            }
        }
    }
}
