//! The HTML of the page, from top to bottom. Every piece of text goes through [`html`].

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Content, Shown, Unit, highlight, plot};
use crate::directory::PROGRAM;
use crate::kind::Kind;
use crate::model::Finding;
use crate::readme::numbered;
use crate::replay::REDUCED;
use crate::text::{html, shell_word};

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
         <title>{title}</title><style>{STYLE}</style></head>\n<body><main>\n{head}{tiles}{notes}{plot}{targets}{versions}{findings}</main>\n\
         <footer>Made by Strait {version}. This page is complete: it loads nothing.</footer>\
         <script>{SCRIPT}</script></body></html>\n",
        title = html(&format!("Strait: {}", summary(content))),
        head = head(content),
        tiles = tiles(content),
        notes = notes(content),
        plot = section("Runs per second", &plot::render(content)),
        targets = section(content.unit.targets(), &targets(content)),
        versions = versions(content),
        findings = findings(content),
        version = env!("CARGO_PKG_VERSION"),
    )
}

fn section(title: &str, body: &str) -> String {
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
fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

/// `1 234 567` with thin spaces.
fn grouped(number: u64) -> String {
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

/// Targets × kinds.
fn targets(content: &Content) -> String {
    let kinds: BTreeSet<(usize, &Kind)> = content
        .findings
        .iter()
        .map(|shown| (shown.finding.kind.rank(), &shown.finding.kind))
        .collect();
    let with_total = content.totals.iter().map(|total| total.target.as_str());
    let names: BTreeSet<&str> = with_total
        .chain(content.findings.iter().map(|shown| shown.finding.target.as_str()))
        .collect();
    if names.is_empty() {
        return String::new();
    }
    let heads: String = kinds
        .iter()
        .map(|(_, kind)| format!("<th class=\"number\">{}</th>", badge(kind)))
        .collect();
    let rows = names.iter().map(|name| {
        let totals = || content.totals.iter().filter(|total| total.target == *name);
        let (programs, runs) = (sum(totals().map(|total| total.programs)), sum(totals().map(|total| total.runs)));
        let of_kind = |kind: &Kind| content.findings.iter().filter(|shown| shown.finding.target == *name && shown.finding.kind == *kind).count();
        let cells: String = kinds.iter().map(|(_, kind)| cell(of_kind(kind) as u64)).collect();
        let clean = if kinds.iter().all(|(_, kind)| of_kind(kind) == 0) { " class=\"clean\"" } else { "" };
        let (programs, runs) = (grouped(programs), grouped(runs));
        format!("<tr{clean}><th scope=\"row\">{}</th><td class=\"number\">{programs}</td><td class=\"number\">{runs}</td>{cells}</tr>", html(name))
    });
    format!(
        "<div class=\"scroll\"><table><thead><tr><th>{}</th><th class=\"number\">{}</th><th class=\"number\">runs</th>{heads}</tr></thead><tbody>{}</tbody></table></div>",
        match content.unit {
            Unit::Programs => "target",
            Unit::Tests => "package",
        },
        content.unit.many(),
        rows.collect::<String>()
    )
}

fn cell(count: u64) -> String {
    if count == 0 {
        "<td class=\"number none\">·</td>".into()
    } else {
        format!("<td class=\"number some\">{}</td>", grouped(count))
    }
}

/// Versions × faults, for each target with more than one version.
fn versions(content: &Content) -> String {
    let mut versions: BTreeMap<&str, BTreeSet<(Vec<Part>, &str)>> = BTreeMap::new();
    let seen = content.totals.iter().map(|total| (total.target.as_str(), total.version.as_str()));
    let found = content
        .findings
        .iter()
        .map(|shown| (shown.finding.target.as_str(), shown.finding.version.as_str()));
    for (target, version) in seen.chain(found) {
        versions.entry(target).or_default().insert((order(version), version));
    }
    let several = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
    several
        .map(|(target, versions)| {
            section(
                &format!("Versions of {}", html(target)),
                &version_table(content, target, &versions),
            )
        })
        .collect()
}

fn version_table(
    content: &Content,
    target: &str,
    versions: &BTreeSet<(Vec<Part>, &str)>,
) -> String {
    let of_target = || {
        content
            .findings
            .iter()
            .map(|shown| &shown.finding)
            .filter(|finding| finding.target == target)
    };
    let mut faults: BTreeMap<&str, &Finding> = BTreeMap::new();
    for finding in of_target() {
        faults.entry(&finding.group).or_insert(finding);
    }
    let heads = faults.values().map(|finding| {
        format!(
            "<th>{} <span class=\"fault\">{}</span></th>",
            badge(&finding.kind),
            html(&finding.title)
        )
    });
    let rows = versions.iter().map(|(_, version)| {
        let programs = content
            .totals
            .iter()
            .filter(|total| total.target == target && total.version == *version)
            .map(|total| total.programs);
        let cells = faults.keys().map(|group| {
            let here =
                of_target().find(|finding| finding.group == **group && finding.version == *version);
            match here {
                Some(finding) => format!(
                    "<td class=\"some\"><a href=\"#{}\">{}</a></td>",
                    html(&finding.id),
                    grouped(finding.count)
                ),
                None => "<td class=\"none\">·</td>".into(),
            }
        });
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td>{}</tr>",
            html(version),
            grouped(sum(programs)),
            cells.collect::<String>()
        )
    });
    format!(
        "<div class=\"scroll\"><table><thead><tr><th>version</th><th class=\"number\">programs</th>{}</tr></thead><tbody>{}</tbody></table></div>",
        heads.collect::<String>(),
        rows.collect::<String>()
    )
}

/// A part of a version: numbers by size, and a pre-release before its release.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Text(String),
    End,
    Number(u64),
}

fn order(version: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = version;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let end = rest.find(|char: char| char.is_ascii_digit() != is_digit).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        match part.parse() {
            Ok(number) => parts.push(Part::Number(number)),
            // A dot says nothing: what follows it does.
            Err(_) if part == "." => {}
            Err(_) => parts.push(Part::Text(part.to_owned())),
        }
        rest = after;
    }
    parts.push(Part::End);
    parts
}

fn badge(kind: &Kind) -> String {
    let class = if kind.meaning().is_empty() { "other" } else { kind.as_str() };
    format!(
        "<span class=\"badge {class}\" title=\"{}\">{}</span>",
        html(kind.meaning()),
        html(kind.as_str())
    )
}

/// What a finding of a Go test is classed as, and whether it fails a build.
fn class_badge(finding: &Finding) -> String {
    let text = |name: &str| finding.details.get(name).and_then(Value::as_str);
    let Some(class) = text("class").filter(|class| *class != finding.kind.as_str()) else {
        return String::new();
    };
    let level = text("level").unwrap_or_default();
    format!("<span class=\"badge\" title=\"{}\">{}</span>", html(level), html(class))
}

fn findings(content: &Content) -> String {
    if content.findings.is_empty() {
        let nothing = match content.unit {
            Unit::Programs => "None. Every program did what some schedule allows.",
            Unit::Tests => "None in these runs.",
        };
        return section("Findings", &format!("<p class=\"empty\">{nothing}</p>"));
    }
    let kinds: BTreeSet<(usize, &Kind)> = content
        .findings
        .iter()
        .map(|shown| (shown.finding.kind.rank(), &shown.finding.kind))
        .collect();
    let buttons: String = kinds
        .iter()
        .map(|(_, kind)| {
            format!(
                "<button type=\"button\" data-kind=\"{0}\" aria-pressed=\"false\">{0}</button>",
                html(kind.as_str())
            )
        })
        .collect();
    let first = match content.unit {
        Unit::Programs => "kind",
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
        .map(|(number, shown)| finding(shown, content.unit, number, open(number)))
        .collect();
    section(
        "Findings",
        &format!(
            "{filter}<div id=\"findings\">{list}</div><p class=\"empty\" id=\"no-match\" hidden>No finding matches.</p>"
        ),
    )
}

fn finding(shown: &Shown, unit: Unit, number: usize, open: bool) -> String {
    let Finding {
        id,
        kind,
        target,
        version,
        title,
        seed,
        index,
        generator_version,
        count,
        failed,
        runs,
        first_seen,
        ..
    } = &shown.finding;
    let command = format!("strait replay {}", shell_word(&shown.place.display().to_string()));
    let times = match *count {
        1 => format!("1 {}", unit.one()),
        count => format!("{} {}", grouped(count), unit.many()),
    };
    let mut body = String::new();
    if !shown.finding.explanation.trim().is_empty() {
        body += &format!("<p class=\"why\">{}</p>", html(shown.finding.explanation.trim()));
    } else if !kind.meaning().is_empty() {
        body += &format!("<p class=\"why\">{}</p>", html(kind.meaning()));
    }
    body += &format!(
        "<h4>Show it again</h4><pre class=\"command\"><code>{}</code></pre>",
        html(&command)
    );
    body += &format!(
        "<dl><div><dt>seed, index</dt><dd>{seed}, {index}</dd></div><div><dt>generator</dt><dd>{generator_version}</dd></div>\
         <div><dt>failed</dt><dd>{failed} of {runs} runs</dd></div><div><dt>seen in</dt><dd>{times}</dd></div><div><dt>first seen</dt><dd>{}</dd></div></dl>",
        html(first_seen)
    );
    let mut files: Vec<_> = shown.files.iter().collect();
    let is_reduced = files.iter().any(|(name, ..)| *name == REDUCED);
    // The reduced program is the one that the explanation speaks of.
    files.sort_by_key(|(name, ..)| *name != REDUCED);
    let shown_files = files.iter().map(|(name, text, cut)| file(name, text, *cut, is_reduced));
    body += &shown_files.collect::<String>();
    if !shown.finding.fingerprint.is_empty() {
        body += &format!(
            "<details class=\"file\"><summary>what groups it</summary><pre>{}</pre></details>",
            html(&shown.finding.fingerprint)
        );
    }
    format!(
        "<details class=\"finding {class}\" id=\"{id}\" data-kind=\"{kind}\" data-count=\"{count}\" data-first=\"{first}\" data-target=\"{target}\" data-order=\"{number}\"{open}>\
         <summary>{badge}{class_badge}<span class=\"title\">{title}</span><span class=\"target\">{target} {version}</span><span class=\"times\">×{times}</span></summary>\
         <div class=\"body\">{body}</div></details>\n",
        class = if kind.meaning().is_empty() { "other" } else { kind.as_str() },
        id = html(id),
        kind = html(kind.as_str()),
        first = html(first_seen),
        target = html(target),
        open = if open { " open" } else { "" },
        badge = badge(kind),
        class_badge = class_badge(&shown.finding),
        title = html(title),
        version = html(version),
        times = grouped(*count),
    )
}

fn file(name: &str, text: &str, cut: bool, is_reduced: bool) -> String {
    let rest = if cut { "<p class=\"cut\">The rest is in the file.</p>" } else { "" };
    match name {
        REDUCED => format!(
            "<h4>Program, reduced</h4><pre class=\"program\">{}</pre>{rest}",
            highlight::program(&numbered(text))
        ),
        PROGRAM if is_reduced => format!(
            "<details class=\"file\"><summary>the program as it was found</summary><pre class=\"program\">{}</pre>{rest}</details>",
            highlight::program(text)
        ),
        PROGRAM => format!(
            "<h4>Program</h4><pre class=\"program\">{}</pre>{rest}",
            highlight::program(&numbered(text))
        ),
        "observation.json" => {
            format!("<h4>Observed</h4><pre>{}</pre>{rest}", html(text.trim_end()))
        }
        name => {
            // A short output is evidence and is shown at once.
            let open = if name == "output.txt" && text.len() < 2000 { " open" } else { "" };
            let (name, text) = (html(name), html(text.trim_end()));
            format!(
                "<details class=\"file\"{open}><summary>{name}</summary><pre>{text}</pre>{rest}</details>"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_in_order() {
        let mut versions = ["0.10.0", "0.9.1", "0.1.0", "0.1.0-pre2", "0.1.0-pre10", "1.0"];
        versions.sort_by_key(|version| order(version));
        assert_eq!(versions, ["0.1.0-pre2", "0.1.0-pre10", "0.1.0", "0.9.1", "0.10.0", "1.0"]);
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            [grouped(7), grouped(1234), grouped(1_234_567)],
            ["7", "1\u{202f}234", "1\u{202f}234\u{202f}567"]
        );
    }
}
