//! The tables of the page: targets and kinds, versions and faults.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::page::{grouped, section, sum};
use super::{Content, Unit};
use crate::index::Total;
use crate::kind::Kind;
use crate::model::Finding;
use crate::text::html;

/// The kinds of what was found, from the worst.
pub(super) fn kinds(content: &Content) -> BTreeSet<(usize, &Kind)> {
    let kinds = content.findings.iter().map(|shown| &shown.finding.kind);
    kinds.map(|kind| (kind.rank(), kind)).collect()
}

/// The row of the table that a finding counts in: its target, or the campaign that found it if that counts its
/// programs under another name, as campaigns against typecheckers do.
pub(super) fn row_of<'a>(content: &'a Content, finding: &'a Finding) -> &'a str {
    let is_row = |total: &&Total| total.target == finding.target;
    let is_types = finding.details.contains_key("types");
    let names: BTreeSet<&str> = content.totals.iter().map(|total| total.target.as_str()).collect();
    match (content.totals.iter().any(|total| is_row(&total)), names.first()) {
        (false, Some(only)) if is_types && names.len() == 1 => only,
        _ => &finding.target,
    }
}

/// Targets × kinds.
pub(super) fn targets(content: &Content) -> String {
    let kinds = kinds(content);
    let with_total = content.totals.iter().map(|total| total.target.as_str());
    let found = content.findings.iter().map(|shown| row_of(content, &shown.finding));
    let names: BTreeSet<&str> = with_total.chain(found).collect();
    if names.is_empty() {
        return String::new();
    }
    let heads: String = kinds
        .iter()
        .map(|(_, kind)| format!("<th class=\"number\">{}</th>", badge(kind)))
        .collect();
    let rows: String = names.iter().map(|name| target_row(content, name, &kinds)).collect();
    let first = match content.unit {
        Unit::Programs => "target",
        Unit::Types => "typecheckers",
        Unit::Tests => "package",
    };
    format!(
        "<div class=\"scroll\"><table class=\"cards\"><thead><tr><th>{first}</th><th class=\"number\">{}</th><th class=\"number\">runs</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>",
        content.unit.many(),
    )
}

fn target_row(content: &Content, name: &str, kinds: &BTreeSet<(usize, &Kind)>) -> String {
    let totals: Vec<&Total> = content.totals.iter().filter(|total| total.target == name).collect();
    let of_kind = |kind: &Kind| {
        let here = content.findings.iter().map(|shown| &shown.finding);
        here.filter(|one| row_of(content, one) == name && one.kind == *kind).count() as u64
    };
    let cells: String = kinds
        .iter()
        .map(|(_, kind)| match of_kind(kind) {
            0 => "<td class=\"number none\">·</td>".to_owned(),
            count => {
                let label = html(kind.as_str());
                format!("<td class=\"number some\" data-label=\"{label}\">{}</td>", grouped(count))
            }
        })
        .collect();
    let is_clean = !totals.is_empty() && kinds.iter().all(|(_, kind)| of_kind(kind) == 0);
    let class = if is_clean { " class=\"clean\"" } else { "" };
    // What another row has counted is not known to be zero.
    let number = |label: &str, value: u64| match totals.is_empty() {
        true => "<td class=\"number none\">–</td>".to_owned(),
        false => format!("<td class=\"number\" data-label=\"{label}\">{}</td>", grouped(value)),
    };
    let programs = number(content.unit.many(), sum(totals.iter().map(|total| total.programs)));
    let runs = number("runs", sum(totals.iter().map(|total| total.runs)));
    format!("<tr{class}><th scope=\"row\">{}</th>{programs}{runs}{cells}</tr>", html(name))
}

/// Versions × faults, for each target with more than one version.
pub(super) fn versions(content: &Content) -> String {
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
        let all = content.findings.iter().map(|shown| &shown.finding);
        all.filter(|finding| finding.target == target)
    };
    let mut faults: BTreeMap<&str, &Finding> = BTreeMap::new();
    for finding in of_target() {
        faults.entry(&finding.group).or_insert(finding);
    }
    let heads = faults.values().map(|finding| {
        let title = html(&finding.title);
        format!("<th>{} <span class=\"fault\">{title}</span></th>", badge(&finding.kind))
    });
    let rows = versions.iter().map(|(_, version)| {
        let programs = content
            .totals
            .iter()
            .filter(|total| total.target == target && total.version == *version)
            .map(|total| total.programs);
        let cells = faults.iter().map(|(group, fault)| {
            let here =
                of_target().find(|finding| finding.group == **group && finding.version == *version);
            match here {
                Some(finding) => format!(
                    "<td class=\"some\" data-label=\"{}\"><a href=\"#{}\">{}</a></td>",
                    html(&fault.title),
                    html(&finding.id),
                    grouped(finding.count)
                ),
                None => "<td class=\"none\">·</td>".into(),
            }
        });
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"number\" data-label=\"programs\">{}</td>{}</tr>",
            html(version),
            grouped(sum(programs)),
            cells.collect::<String>()
        )
    });
    format!(
        "<div class=\"scroll\"><table class=\"cards\"><thead><tr><th>version</th><th class=\"number\">programs</th>{}</tr></thead><tbody>{}</tbody></table></div>",
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

pub(super) fn badge(kind: &Kind) -> String {
    let class = if kind.meaning().is_empty() { "other" } else { kind.as_str() };
    format!(
        "<span class=\"badge {class}\" title=\"{}\">{}</span>",
        html(kind.meaning()),
        html(kind.as_str())
    )
}

/// What a finding of a Go test is classed as, and whether it fails a build.
pub(super) fn class_badge(finding: &Finding) -> String {
    let text = |name: &str| finding.details.get(name).and_then(Value::as_str);
    let Some(class) = text("class").filter(|class| *class != finding.kind.as_str()) else {
        return String::new();
    };
    let level = text("level").unwrap_or_default();
    format!("<span class=\"badge\" title=\"{}\">{}</span>", html(level), html(class))
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
}
