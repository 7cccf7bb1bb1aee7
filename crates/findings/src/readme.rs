//! `README.md` of a finding: what is wrong, the program with numbered lines, how to show it again.

use crate::model::Finding;
use crate::text;

/// The page of a finding. If there is a reduced program, it comes first, and the explanation speaks
/// of its lines.
pub(crate) fn readme(finding: &Finding, program: Option<&str>, reduced: Option<&str>) -> String {
    let Finding { kind, seed, index, generator_version, first_seen, .. } = finding;
    let line = text::markdown_line;
    let (target, version) = (line(&finding.target), line(&finding.version));
    let mut page = format!("# {}\n\n", line(&finding.title));
    page += &format!(
        "Shows it again, started in this directory:\n\n{}\n",
        text::fenced(&finding.reproduce, "sh")
    );
    page += &format!("{kind} in {target} {version}: {}\n\n", kind.meaning());
    if let Some(shown) = reduced.or(program) {
        let which = if reduced.is_some() { "The reduced program" } else { "The program" };
        page += &format!("{which}:\n\n{}\n", text::fenced(&numbered(shown), "text"));
    }
    if !finding.explanation.trim().is_empty() {
        page += &format!("{}\n", text::fenced(&finding.explanation, "text"));
    }
    let (failed, runs) = (finding.failed, finding.runs);
    page += &match reduced {
        Some(_) => format!(
            "The reduced program showed it in {failed} of {runs} runs. First seen {first_seen} with seed {seed}, index {index} (generator {generator_version}). How often since: `count` in finding.json.\n\n"
        ),
        None => format!(
            "First seen {first_seen} with seed {seed}, index {index} (generator {generator_version}), in {failed} of {runs} runs. How often since: `count` in finding.json.\n\n"
        ),
    };
    if let (Some(program), Some(_)) = (program, reduced) {
        page += &format!("The program as it was found:\n\n{}\n", text::fenced(program, "text"));
    }
    let names: Vec<String> = finding.files.iter().map(|path| format!("`{path}`")).collect();
    if !names.is_empty() {
        page += &format!("Files: {}\n", names.join(", "));
    }
    page
}

/// Text with the number of each line before it.
pub(crate) fn numbered(text: &str) -> String {
    let lines = text.lines().enumerate();
    lines.map(|(number, line)| format!("{:>3}  {line}\n", number + 1)).collect()
}
