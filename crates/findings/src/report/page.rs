//! The HTML of the page, from top to bottom. Every piece of text goes through [`html`].

use std::collections::BTreeSet;

use strait_diagram::SVG_STYLE;

use super::tables::{kinds, targets, versions};
use super::{Content, Unit, about, compare, finding, plot};
use crate::text::html;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("filter.js");

/// The whole page.
pub(super) fn render(content: &Content) -> String {
    // Nothing may be loaded and no script run but the one below, whatever slips through.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>{title}</title><style>{STYLE}{SVG_STYLE}</style></head>\n<body><main>\n{head}{tiles}{notes}{changes}{findings}{targets}{plot}{versions}{rules}{campaign}</main>\n\
         <footer>Made by Strait {version}. This page is complete: it loads nothing.</footer>\
         <script>{SCRIPT}</script></body></html>\n",
        title = html(&format!("Strait: {}", summary(content))),
        head = head(content),
        tiles = tiles(content),
        notes = notes(content),
        changes = compare::section(content),
        plot = section("Progress", &plot::render(content)),
        targets = section(content.unit.targets(), &targets(content)),
        versions = versions(content),
        findings = findings(content),
        rules = about::rules(content),
        campaign = about::campaign(content),
        version = env!("CARGO_PKG_VERSION"),
    )
}

pub(super) fn section(title: &str, body: &str) -> String {
    if body.is_empty() {
        String::new()
    } else {
        format!("<section><h2>{title}</h2>{body}</section>\n")
    }
}

/// In plain words.
fn summary(content: &Content) -> String {
    let faulty: BTreeSet<&str> =
        content.findings.iter().map(|shown| shown.finding.target.as_str()).collect();
    match content.findings.len() {
        0 => "nothing was found".into(),
        1 => format!("one finding in {}", content.findings[0].finding.target),
        count if faulty.len() == 1 => {
            format!("{count} findings in {}", content.findings[0].finding.target)
        }
        count => format!("{count} findings in {} targets", faulty.len()),
    }
}

fn head(content: &Content) -> String {
    let seeds: Vec<String> = content.seeds.iter().take(5).map(u64::to_string).collect();
    let seeds = match (content.seeds.len(), seeds.join(", ")) {
        (0, _) => String::new(),
        (1, seed) => format!(" · seed {seed}"),
        (count, seeds) => {
            format!(" · {count} campaigns, seeds {seeds}{}", if count > 5 { ", …" } else { "" })
        }
    };
    format!(
        "<header><p class=\"name\"><svg class=\"logo\" viewBox=\"0 0 32 20\" aria-hidden=\"true\"><path d=\"M1 3c9 0 9 5 15 5s6-5 15-5M1 17c9 0 9-5 15-5s6 5 15 5\"/></svg>strait</p>\
         <h1>{}</h1><p class=\"where\">{}{}</p></header>\n",
        html(&capital(&summary(content))),
        html(&content.folder),
        html(&seeds),
    )
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn tiles(content: &Content) -> String {
    let (programs, runs) = (
        sum(content.totals.iter().map(|total| total.programs)),
        sum(content.totals.iter().map(|total| total.runs)),
    );
    let shown = sum(content.findings.iter().map(|shown| shown.finding.count));
    let seconds = content.active.as_secs();
    let time = match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    };
    let findings = content.findings.len() as u64;
    let tile = |value: String, name: &str, class: &str| {
        format!("<div class=\"tile {class}\"><b>{value}</b><span>{name}</span></div>")
    };
    let tiles = [
        tile(
            grouped(findings),
            if findings == 1 { "finding" } else { "findings" },
            if findings > 0 { "bad" } else { "good" },
        ),
        tile(grouped(shown), &format!("{} showed one", content.unit.many()), ""),
        tile(grouped(programs), content.unit.many(), ""),
        tile(grouped(runs), "runs", ""),
        tile(time, "of fuzzing", ""),
    ];
    format!("<div class=\"tiles\">{}</div>\n", tiles.concat())
}

/// Numbers of a store from elsewhere may be of any size.
pub(super) fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

/// `1 234 567` with thin spaces.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

fn notes(content: &Content) -> String {
    let notes: String =
        content.notes.iter().map(|note| format!("<p class=\"note\">{}</p>", html(note))).collect();
    if notes.is_empty() { notes } else { notes + "\n" }
}

fn findings(content: &Content) -> String {
    if content.findings.is_empty() {
        let nothing = match content.unit {
            Unit::Programs => "None. Every program did what some schedule allows.",
            Unit::Types => "None. Every program was judged as the rules say.",
            Unit::Tests => "None in these runs.",
        };
        return section("Findings", &format!("<p class=\"empty\">{nothing}</p>"));
    }
    let buttons: String = kinds(content)
        .iter()
        .map(|(_, kind)| {
            format!(
                "<button type=\"button\" data-kind=\"{0}\" aria-pressed=\"false\">{0}</button>",
                html(kind.as_str())
            )
        })
        .collect();
    let first = match content.unit {
        Unit::Programs | Unit::Types => "kind",
        Unit::Tests => "importance",
    };
    let filter = format!(
        "<form class=\"filter\" hidden><input type=\"search\" placeholder=\"Filter by text\" aria-label=\"Filter findings by text\">{buttons}\
         <label>sort by <select><option value=\"kind\">{first}</option><option value=\"count\">count</option><option value=\"first\">first seen</option><option value=\"target\">target</option></select></label></form>"
    );
    // If there are few findings, all of them are shown open.
    let open = |number: usize| number == 0 || content.findings.len() <= 3;
    let list: String = content
        .findings
        .iter()
        .enumerate()
        .map(|(number, shown)| finding::render(content, shown, number, open(number)))
        .collect();
    section(
        "Findings",
        &format!(
            "{filter}<div id=\"findings\">{list}</div><p class=\"empty\" id=\"no-match\" hidden>No finding matches.</p>"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            [grouped(7), grouped(1234), grouped(1_234_567)],
            ["7", "1\u{202f}234", "1\u{202f}234\u{202f}567"]
        );
    }
}
