//! How the campaigns were run: the rules of the generator that were applied, commands, machine and versions.

use std::collections::{BTreeMap, BTreeSet};

use super::Content;
use super::page::{grouped, section};
use crate::session::SessionRecord;
use crate::text::html;

/// What counts of rules begin with; see `strait-fuzz`.
const RULE: &str = "rule ";
/// The most sessions that are shown.
const SESSIONS: usize = 20;

/// Which rules of the generator were applied how often.
pub(super) fn rules(content: &Content) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, count) in content.sessions.iter().flat_map(|session| &session.counts) {
        if let Some(rule) = name.strip_prefix(RULE) {
            let known = counts.entry(rule).or_default();
            *known = known.saturating_add(*count);
        }
    }
    let most = counts.values().copied().max().unwrap_or(0);
    if most == 0 {
        return String::new();
    }
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(name, count)| (u64::MAX - count, *name));
    let row = |(name, count): &(&str, u64)| {
        // Logarithmic: rare rules are what one looks for.
        let none = if *count == 0 { " class=\"none\"" } else { "" };
        let share = 100.0 * ((*count as f64) + 1.0).ln() / ((most as f64) + 1.0).ln();
        format!(
            "<li{none}><span class=\"rule\">{}</span><span class=\"bar\"><span style=\"width:{share:.0}%\"></span></span><span class=\"number\">{}</span></li>",
            html(name),
            grouped(*count)
        )
    };
    let rows: String = counts.iter().map(row).collect();
    let text = format!(
        "<p class=\"empty\">{} of {} rules of the generator were applied. Which ones can be applied depends on the targets. Bars are logarithmic.</p><ul class=\"rules\">{rows}</ul>",
        counts.iter().filter(|(_, count)| *count > 0).count(),
        counts.len()
    );
    section("Rules of the generator", &text)
}

/// Commands, machine and versions.
pub(super) fn campaign(content: &Content) -> String {
    let versions: BTreeSet<(&str, &str)> = content
        .totals
        .iter()
        .map(|total| (total.target.as_str(), total.version.as_str()))
        .collect();
    if content.sessions.is_empty() && versions.is_empty() {
        return String::new();
    }
    let session = |session: &SessionRecord| {
        let SessionRecord { ended, command, strait, system, cores, .. } = session;
        format!(
            "<li><code>{}</code><span>Strait {}, {}, {cores} cores, ended {}</span></li>",
            html(command),
            html(strait),
            html(system),
            html(ended)
        )
    };
    let first = content.sessions.len().saturating_sub(SESSIONS);
    let sessions: String = content.sessions[first..].iter().map(session).collect();
    let sessions = match sessions.as_str() {
        "" => String::new(),
        sessions => format!("<ul class=\"sessions\">{sessions}</ul>"),
    };
    let version = |(target, version): &(&str, &str)| match *version {
        "" => format!("<li>{}</li>", html(target)),
        version => format!("<li>{} {}</li>", html(target), html(version)),
    };
    let versions: String = versions.iter().map(version).collect();
    let generators: BTreeSet<u32> =
        content.findings.iter().map(|shown| shown.finding.generator_version).collect();
    let generators: Vec<String> = generators.iter().map(u32::to_string).collect();
    let generators = match generators.len() {
        0 => String::new(),
        _ => format!("<p class=\"empty\">Generator version {}.</p>", generators.join(", ")),
    };
    section(
        "Machine, commands and versions",
        &format!("{sessions}<h4>Under test</h4><ul class=\"versions\">{versions}</ul>{generators}"),
    )
}
