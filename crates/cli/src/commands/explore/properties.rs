//! `strait explore FILE --property NAME… --formula FILE`: a model checked for properties.

use crate::commands::verify;
use std::path::PathBuf;

use anyhow::Context;
use strait_calculus::Span;
use strait_findings::SourcePlace;
use strait_goverify::{
    Checked, EntryBudget, FailOn, Locate, NamedFormula, Question, SourceFiles, Summary,
    check_model, findings, unusable_name,
};
use strait_verify::{Formula, Places, Property};

use crate::commands::explore::Subject;
use crate::commands::verify::report::{entry_document, finding_document};
use crate::commands::verify::text::VerifyReport;
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

    fn place_in_formulas(&self, span: Span) -> Option<String> {
        Some(span.line_column(&self.source).0.to_string())
    }
}

impl Locate for Model {
    fn position(&self, span: Span) -> Option<SourcePlace> {
        let (line, column) = span.line_column(&self.source);
        Some(SourcePlace { file: self.file.clone(), line: line as u32, column: column as u32 })
    }
}

/// Reads and parses formulas; each is named like its file.
pub fn read_formulas(paths: &[PathBuf]) -> anyhow::Result<Vec<NamedFormula>> {
    paths.iter().map(read_formula).collect()
}

fn read_formula(path: &PathBuf) -> anyhow::Result<NamedFormula> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let formula = Formula::parse(&text)
        .map_err(|wrong| anyhow::anyhow!("{}", wrong.render(&shown, &text)))?;
    let name = path.file_name().map_or(shown, |name| name.to_string_lossy().into_owned());
    Ok(NamedFormula { name, formula })
}

/// The properties behind names; `all` stands for those whose failure can be a fault.
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
    properties: Vec<Property>,
    formulas: Vec<NamedFormula>,
    limits: &EntryBudget<'_>,
) -> Checked {
    let places =
        Model { file: subject.file.display().to_string(), source: subject.source.to_owned() };
    let question = Question { properties, explicit: true, formulas, types: false };
    check_model(subject.program, &question, limits, Box::new(places))
}

/// Tells what was found about a model.
pub fn tell(ui: &Ui, subject: &Subject<'_>, checked: Checked) -> anyhow::Result<Status> {
    let checked = [checked];
    unusable_name(&checked)?;
    let files = SourceFiles::below(std::path::Path::new("."));
    let findings = findings(&checked, &files, None);
    if ui.json {
        let entries: Vec<_> = checked.iter().map(|entry| entry_document(entry, None)).collect();
        let found: Vec<_> = findings.iter().map(|one| finding_document(one, &checked)).collect();
        let file = subject.file.display().to_string();
        let document = serde_json::json!({ "file": file, "entries": entries, "findings": found });
        ui.document(&document)?;
    } else {
        let report = VerifyReport { checked: &checked, findings: &findings, files: None };
        verify::text::print(ui, &report)?;
    }
    let fails = Summary::of(&checked, &findings).fails(FailOn::Violation);
    Ok(if fails { Status::Found } else { Status::Clean })
}
