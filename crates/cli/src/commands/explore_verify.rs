//! `strait explore FILE --property NAME… --formula FILE`: a model checked for properties.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use strait_calculus::Span;
use strait_verify::{
    Budget, Formula, Places, Property, Reduction, Verification, check_formula, verify,
};

use crate::commands::explore::Subject;
use crate::commands::verify_report::{Answer, Checked, Locate, Position};
use crate::commands::verify_text;
use crate::ui::{Status, Ui};

/// Positions in the text of a model.
struct Model {
    file: String,
    source: String,
}

impl Places for Model {
    fn place(&self, span: Span) -> Option<String> {
        Some(format!("line {}", span.line_column(&self.source).0))
    }
}

impl Locate for Model {
    fn position(&self, span: Span) -> Option<Position> {
        let (line, column) = span.line_column(&self.source);
        Some(Position { file: self.file.clone(), line: line as u32, column: column as u32 })
    }
}

/// A formula with the name it is reported under.
pub struct Named {
    pub name: String,
    pub formula: Formula,
}

/// Reads and parses formulas; each is named like its file.
pub fn read_formulas(paths: &[PathBuf]) -> anyhow::Result<Vec<Named>> {
    paths.iter().map(read_formula).collect()
}

fn read_formula(path: &PathBuf) -> anyhow::Result<Named> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let formula = Formula::parse(&text)
        .map_err(|wrong| anyhow::anyhow!("{}", wrong.render(&shown, &text)))?;
    let name = path.file_name().map_or(shown, |name| name.to_string_lossy().into_owned());
    Ok(Named { name, formula })
}

/// The properties behind names; `all` stands for those whose failure is a fault.
pub fn properties(names: &[String]) -> anyhow::Result<Vec<Property>> {
    let mut properties = Vec::new();
    for name in names {
        let named = match name.as_str() {
            "all" => Property::ALL.into_iter().filter(|one| one.is_requirement()).collect(),
            name => vec![name.parse::<Property>()?],
        };
        properties
            .extend(named.into_iter().filter(|one| !properties.contains(one)).collect::<Vec<_>>());
    }
    Ok(properties)
}

/// Checks a model.
pub fn check(
    subject: &Subject<'_>,
    properties: &[Property],
    formulas: &[Named],
    budget: &Budget<'_>,
) -> Checked {
    let places =
        Model { file: subject.file.display().to_string(), source: subject.source.to_owned() };
    let started = Instant::now();
    let found = verify(subject.program, properties, budget, &places);
    let mut answers: Vec<Answer> = found
        .verdicts
        .iter()
        .map(|(property, verdict)| Answer {
            name: property.name().into(),
            counts: true,
            verdict: verdict.clone(),
            doubted: None,
            confirmation: None,
        })
        .collect();
    answers.extend(formula_answers(subject.program, &found, formulas, budget, &places));
    Checked {
        entry: "main".into(),
        states: found.model.space.states().into(),
        transitions: found.model.space.transitions() as u64,
        coverage: found.coverage().clone(),
        reduced: found.model.reduced,
        seconds: started.elapsed().as_secs_f64(),
        answers,
        assumptions: vec![],
        types: None,
        places: Box::new(places),
    }
}

/// Tells what was found about a model.
pub fn tell(ui: &Ui, subject: &Subject<'_>, checked: &[Checked]) -> anyhow::Result<Status> {
    if ui.json {
        let entries: Vec<serde_json::Value> = checked.iter().map(Checked::document).collect();
        let file = subject.file.display().to_string();
        ui.document(&serde_json::json!({ "file": file, "entries": entries }))?;
    } else {
        verify_text::print(ui, checked)?;
    }
    let wrong = checked.iter().flat_map(|entry| &entry.answers).any(Answer::is_violation);
    Ok(if wrong { Status::Found } else { Status::Clean })
}

/// Formulas are about every step, so the state space must not be reduced for them.
pub fn formula_answers(
    program: &strait_calculus::Program,
    found: &Verification,
    formulas: &[Named],
    budget: &Budget<'_>,
    places: &dyn Places,
) -> Vec<Answer> {
    if formulas.is_empty() {
        return vec![];
    }
    let full;
    let model = if found.model.reduced {
        full = strait_verify::Model::explore(
            program,
            &Budget { reduction: Reduction::Never, ..*budget },
        );
        &full
    } else {
        &found.model
    };
    let answers = formulas.iter().map(|named| Answer {
        name: named.name.clone(),
        counts: true,
        verdict: check_formula(model, &named.formula, places),
        doubted: None,
        confirmation: None,
    });
    answers.collect()
}
