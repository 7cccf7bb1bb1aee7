//! What is known about one entry after verification, and the JSON for it. The text for people is in
//! `verify_text`, the format for code hosts in `sarif`.

use serde_json::{Map, Value, json};
use strait_calculus::Span;
use strait_explore::Coverage;
use strait_verify::{Culprit, Places, Told, Verdict};

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl std::fmt::Display for Position {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

/// Where spans of a program stand in files.
pub trait Locate: Places {
    /// The place of a span, if it has one.
    fn position(&self, span: Span) -> Option<Position>;
}

/// One property of one entry.
pub struct Answer {
    /// The property, or the name of the formula's file.
    pub name: String,
    /// Does its failure count as something found?
    pub counts: bool,
    pub verdict: Verdict,
    /// A violation of the model that is not claimed of the program, because of what the model leaves
    /// out.
    pub doubted: Option<Verdict>,
    /// Whether runs of the program showed it, if that was asked for.
    pub confirmation: Option<Confirmation>,
}

/// What runs of the program have shown of a violation.
#[derive(Clone, Debug)]
pub struct Confirmation {
    /// How often it was seen; `None` if it could not be looked for.
    pub seen: Option<u64>,
    /// Of how many runs.
    pub runs: u64,
    /// Why it could not be looked for.
    pub why: Option<String>,
}

impl Confirmation {
    /// It could not be looked for.
    pub fn impossible(why: impl Into<String>) -> Self {
        Confirmation { seen: None, runs: 0, why: Some(why.into()) }
    }

    /// Was it seen?
    pub fn confirmed(&self) -> Option<bool> {
        self.seen.map(|seen| seen > 0)
    }

    /// In words.
    pub fn tell(&self) -> String {
        match (self.seen, &self.why) {
            (Some(0), _) => format!("not confirmed: not seen in {} runs", self.runs),
            (Some(seen), _) => format!("confirmed: seen in {seen} of {} runs", self.runs),
            (None, Some(why)) => format!("not confirmed: {why}"),
            (None, None) => "not confirmed".to_owned(),
        }
    }
}

impl Answer {
    /// Was something found?
    pub fn is_violation(&self) -> bool {
        self.counts && self.verdict.holds == Some(false)
    }
}

/// One entry with all its answers.
pub struct Checked {
    pub entry: String,
    pub states: u64,
    pub transitions: u64,
    pub coverage: Coverage,
    /// Were equivalent orders left out?
    pub reduced: bool,
    pub seconds: f64,
    pub answers: Vec<Answer>,
    /// What was abstracted on the way to the model, each with its place.
    pub assumptions: Vec<Value>,
    /// The behavioural types, if they were asked for.
    pub types: Option<String>,
    /// Where the spans of this entry's traces are.
    pub places: Box<dyn Locate>,
}

impl Checked {
    /// The entry as JSON.
    pub fn document(&self) -> Value {
        let answers = self.answers.iter().map(|answer| {
            let mut document = verdict_document(&answer.verdict, self.places.as_ref());
            if let (Some(confirmation), Some(object)) =
                (&answer.confirmation, document.as_object_mut())
            {
                object.insert("confirmed".into(), json!(confirmation.confirmed()));
                object.insert("seen".into(), json!(confirmation.seen));
                object.insert("runs".into(), json!(confirmation.runs));
            }
            (answer.name.clone(), document)
        });
        let bounded_by = match &self.coverage {
            Coverage::Bounded(by) => Some(by),
            _ => None,
        };
        let mut document = json!({
            "entry": self.entry,
            "states": self.states,
            "transitions": self.transitions,
            "coverage": self.coverage.word(),
            "bounded_by": bounded_by,
            "reduced": self.reduced,
            "seconds": self.seconds,
            "properties": answers.collect::<Map<String, Value>>(),
            "assumptions": self.assumptions,
        });
        if let (Some(types), Some(object)) = (&self.types, document.as_object_mut()) {
            object.insert("types".into(), json!(types));
        }
        document
    }
}

fn verdict_document(verdict: &Verdict, places: &dyn Locate) -> Value {
    let trace = verdict.trace.as_ref();
    let steps = trace.map(|trace| trace.steps.iter().map(|step| step_document(step, places)));
    let culprits = verdict.culprits.iter().map(|one| culprit_document(one, places));
    let left = trace.map(|trace| trace.left.iter().map(|one| culprit_document(one, places)));
    json!({
        "holds": verdict.holds,
        "why": verdict.why,
        "trace": steps.map_or(Value::Null, |steps| json!(steps.collect::<Vec<_>>())),
        "cycle": trace.and_then(|trace| trace.cycle),
        "at_the_end": left.map_or(Value::Null, |left| json!(left.collect::<Vec<_>>())),
        "places": culprits.collect::<Vec<_>>(),
        "choices": trace.map(|trace| trace.choices),
    })
}

fn step_document(step: &Told, places: &dyn Locate) -> Value {
    let partner = step.partner.as_ref();
    json!({
        "action": format!("{} {}", step.process, step.action),
        "position": place(places, step.span),
        "process": step.process,
        "partner": partner.map(|(process, _)| process),
        "partner_position": partner.and_then(|(_, span)| place(places, *span)),
        "choice": step.choice,
    })
}

fn culprit_document(culprit: &Culprit, places: &dyn Locate) -> Value {
    json!({
        "process": culprit.process,
        "says": culprit.says,
        "position": place(places, culprit.span),
    })
}

/// The place of a span for people.
pub fn place(places: &dyn Locate, span: Span) -> Option<String> {
    places.position(span).map(|position| position.to_string())
}
