//! What `strait ci` came to, as Markdown that code hosts show: a table of commands, new findings, and what was not
//! checked. Titles come from elsewhere, so nothing in them can act as Markdown or HTML.

use strait_findings::visible;

use crate::commands::ci::step::{CiFinding, CiStatus, Step, StepCoverage, StepResult};

/// How many new findings are shown one by one.
const SHOWN: usize = 20;

/// The summary.
pub fn summary(results: &[(Step, StepResult)], problems: &[String]) -> String {
    let mut text = format!("## {}\n\n", headline(results, problems));
    if !results.is_empty() {
        text += "| command | folder | result | new | known | silenced | time |\n";
        text += "|---|---|---|---:|---:|---:|---:|\n";
    }
    for (step, result) in results {
        let count = |status: CiStatus| {
            result.findings.iter().filter(|finding| finding.status == status).count()
        };
        let done = match &result.coverage {
            StepCoverage::Failed(_) => "**failed**".to_owned(),
            _ => escaped(&result.summary),
        };
        text += &format!(
            "| `{}` | {} | {done} | {} | {} | {} | {:.0} s |\n",
            step.kind.command(),
            escaped(folder(step)),
            count(CiStatus::New),
            count(CiStatus::Known),
            count(CiStatus::Silenced),
            result.seconds,
        );
    }
    text += &new_findings(results);
    text + &not_checked(results, problems)
}

fn headline(results: &[(Step, StepResult)], problems: &[String]) -> String {
    let fails = results.iter().flat_map(|(_, result)| &result.findings).filter(|one| one.fails());
    let is_failed =
        |(_, result): &(Step, StepResult)| matches!(result.coverage, StepCoverage::Failed(_));
    let failed = results.iter().filter(|one| is_failed(one)).count() + problems.len();
    let found = match fails.count() {
        0 => "no new findings".to_owned(),
        1 => "1 new finding".to_owned(),
        many => format!("{many} new findings"),
    };
    match failed {
        0 => format!("Strait: {found}"),
        1 => format!("Strait: {found}, 1 command failed"),
        many => format!("Strait: {found}, {many} commands failed"),
    }
}

fn new_findings(results: &[(Step, StepResult)]) -> String {
    let all = results.iter().flat_map(|(step, result)| {
        let new = result.findings.iter().filter(|one| one.status == CiStatus::New);
        new.map(move |one| (step, one))
    });
    let all: Vec<(&Step, &CiFinding)> = all.collect();
    if all.is_empty() {
        return String::new();
    }
    let mut text = "\n### New findings\n\n".to_owned();
    for (step, one) in all.iter().take(SHOWN) {
        let level = if one.is_error { "" } else { "warning: " };
        let place = one.places.first().map(|place| format!(" at {}", escaped(place)));
        text += &format!(
            "- `{}`: {level}**{}**{}: {}\n",
            step.kind.command(),
            escaped(&one.kind),
            place.unwrap_or_default(),
            escaped(&one.title),
        );
    }
    if all.len() > SHOWN {
        text += &format!("- and {} more\n", all.len() - SHOWN);
    }
    text
}

fn not_checked(results: &[(Step, StepResult)], problems: &[String]) -> String {
    let mut lines: Vec<String> = problems.iter().map(|problem| escaped(problem)).collect();
    for (step, result) in results {
        let head = format!("`{}` in {}", step.kind.command(), escaped(folder(step)));
        match &result.coverage {
            StepCoverage::Complete => {}
            StepCoverage::Partial(all) => {
                lines.extend(all.iter().map(|what| format!("{head}: {}", escaped(what))));
            }
            StepCoverage::Failed(why) => lines.push(format!("{head} failed: {}", escaped(why))),
        }
    }
    match lines.is_empty() {
        true => String::new(),
        false => format!("\n### Not checked\n\n- {}\n", lines.join("\n- ")),
    }
}

fn folder(step: &Step) -> &str {
    match step.prefix.trim_end_matches('/') {
        "" => ".",
        prefix => prefix,
    }
}

/// A text in one line in which no character acts as Markdown or HTML.
fn escaped(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut escaped = String::new();
    for letter in visible(&line).chars() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '#' | '!' | '~' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::commands::ci::step::StepKind;

    fn result(coverage: StepCoverage, status: CiStatus) -> (Step, StepResult) {
        let step = Step {
            kind: StepKind::GoFuzz,
            folder: PathBuf::from("/m/api"),
            prefix: "api/".to_owned(),
            packages: vec![],
            crates: vec![],
        };
        let finding = CiFinding {
            kind: "deadlock".to_owned(),
            title: "waits <img src=x> | forever\n# now".to_owned(),
            places: vec!["api/a.go:7".to_owned()],
            status,
            is_error: true,
            replay: None,
        };
        let failed = StepResult::failed("");
        let summary = "3 tests".to_owned();
        (step, StepResult { coverage, summary, findings: vec![finding], ..failed })
    }

    #[test]
    fn new_findings_and_what_was_not_checked_are_told() {
        let text = summary(&[result(StepCoverage::Complete, CiStatus::New)], &[]);
        assert!(text.starts_with("## Strait: 1 new finding\n"), "{text}");
        let expected = "- `strait go fuzz`: **deadlock** at api/a.go:7: waits &lt;img src=x&gt; \\| forever \\# now\n";
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("Not checked"), "{text}");
        let known = summary(&[result(StepCoverage::Complete, CiStatus::Known)], &[]);
        assert!(known.starts_with("## Strait: no new findings\n"), "{known}");
        assert!(known.contains("| 3 tests | 0 | 1 | 0 | 0 s |"), "{known}");
        let failed = result(StepCoverage::Failed("no go".to_owned()), CiStatus::Silenced);
        let failed = summary(&[failed], &["x cannot be read".to_owned()]);
        assert!(failed.starts_with("## Strait: no new findings, 2 commands failed\n"), "{failed}");
        assert!(failed.contains("- `strait go fuzz` in api failed: no go\n"), "{failed}");
        assert!(failed.contains("- x cannot be read\n"), "{failed}");
    }
}
