//! One finding on the page: the program first, then the picture, why it is a fault, how to show it again, and
//! all other files.

use strait_diagram::{PERFETTO_FILE, SHIVIZ_FILE, SVG_FILE, embedded_svg};

use super::page::grouped;
use super::tables::{badge, class_badge};
use super::{Content, FileText, Shown, Unit, diff, highlight, source};
use crate::directory::PROGRAM;
use crate::model::Finding;
use crate::replay::REDUCED;
use crate::text::{html, shell_word};

/// Pairs of files with programs that mean the same; those that were made smaller come first.
const PAIRS: [(&str, &str); 4] = [
    ("reduced.rs", "reduced-rewritten.rs"),
    ("reduced.txt", "reduced-rewritten.txt"),
    ("source/program.rs", "source/rewritten.rs"),
    ("source/program.txt", "source/rewritten.txt"),
];
/// Files with the only program, where there is no `.strait`.
const SINGLE: [&str; 4] = ["reduced.rs", "reduced.txt", "source/program.rs", "source/program.txt"];
/// Files that the picture stands for.
const DRAWN: [&str; 3] = [SVG_FILE, PERFETTO_FILE, SHIVIZ_FILE];

/// The finding, closed unless `open`.
pub(super) fn render(content: &Content, shown: &Shown, number: usize, open: bool) -> String {
    let Finding { id, kind, target, version, title, count, first_seen, .. } = &shown.finding;
    let is_new = content.earlier.as_ref().is_some_and(|earlier| !earlier.knows(&shown.finding));
    let new = if is_new { "<span class=\"badge new\">new</span>" } else { "" };
    format!(
        "<details class=\"finding {class}\" id=\"{id}\" data-kind=\"{kind}\" data-count=\"{count}\" data-first=\"{first}\" data-target=\"{target}\" data-order=\"{number}\"{open}>\
         <summary>{badge}{class_badge}{new}<span class=\"title\">{title}</span><span class=\"target\">{target} {version}</span><span class=\"times\">×{times}</span></summary>\
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
        body = body(shown, content.unit),
    )
}

fn body(shown: &Shown, unit: Unit) -> String {
    let finding = &shown.finding;
    let meaning = match finding.kind.meaning() {
        "" => String::new(),
        meaning => format!("<p class=\"meaning\">{}</p>", html(meaning)),
    };
    let (program, used) = program(shown);
    let why = match finding.explanation.trim() {
        "" => String::new(),
        why => format!("<h4>Why</h4><pre class=\"why\">{}</pre>", html(why)),
    };
    let command = format!("strait replay {}", shell_word(&shown.place.display().to_string()));
    let again = format!(
        "<h4>Show it again</h4><pre class=\"command\"><code>{}</code></pre>",
        html(&command)
    );
    let others = shown.files.iter().filter(|one| {
        let name = one.name.as_str();
        let is_drawn = shown.diagram.is_some() && DRAWN.contains(&name);
        !is_drawn && !used.contains(&name)
    });
    let others: String = others.map(file).collect();
    let group = match finding.fingerprint.as_str() {
        "" => String::new(),
        fingerprint => format!(
            "<details class=\"file\"><summary>what groups it</summary><pre>{}</pre></details>",
            html(fingerprint)
        ),
    };
    let quotes = source::quotes(finding);
    let picture = picture(shown);
    let facts = facts(finding, unit);
    format!("{meaning}{program}{quotes}{picture}{why}{again}{facts}{others}{group}")
}

fn facts(finding: &Finding, unit: Unit) -> String {
    let Finding { seed, index, generator_version, failed, runs, first_seen, count, .. } = finding;
    let times = match *count {
        1 => format!("1 {}", unit.one()),
        count => format!("{} {}", grouped(count), unit.many()),
    };
    format!(
        "<dl><div><dt>seed, index</dt><dd>{seed}, {index}</dd></div><div><dt>generator</dt><dd>{generator_version}</dd></div>\
         <div><dt>failed</dt><dd>{failed} of {runs} runs</dd></div><div><dt>seen in</dt><dd>{times}</dd></div><div><dt>first seen</dt><dd>{}</dd></div></dl>",
        html(first_seen)
    )
}

fn picture(shown: &Shown) -> String {
    let Some(diagram) = &shown.diagram else { return String::new() };
    let folder = html(&shown.place.display().to_string());
    format!(
        "<h4>What happens</h4><div class=\"scroll diagram\">{}</div>\
         <p class=\"cut\">Also in {folder}: {SVG_FILE}, {PERFETTO_FILE} for ui.perfetto.dev, {SHIVIZ_FILE} for ShiViz.</p>",
        embedded_svg(diagram)
    )
}

/// The program that the finding is about, and the files that it was taken from.
fn program(shown: &Shown) -> (String, Vec<&str>) {
    let find = |name: &str| shown.files.iter().find(|file| file.name == name);
    let marked = shown.diagram.as_ref().map(|diagram| diagram.bad_lines()).unwrap_or_default();
    for (name, heading) in [(REDUCED, "The reduced program"), (PROGRAM, "The program")] {
        if let Some(file) = find(name) {
            let text = source::numbered(&file.text, &marked);
            return (format!("<h4>{heading}</h4>{text}{}", cut(file)), vec![&file.name]);
        }
    }
    for (left, right) in PAIRS {
        let (Some(left), Some(right)) = (find(left), find(right)) else { continue };
        let pair =
            ((left.name.as_str(), left.text.as_str()), (right.name.as_str(), right.text.as_str()));
        let both = diff::side_by_side(pair.0, pair.1).unwrap_or_else(|| {
            format!("{}{}", source::plain(&left.text), source::plain(&right.text))
        });
        let heading = "<h4>Two programs that mean the same</h4>";
        let page = format!("{heading}{both}{}{}", cut(left), cut(right));
        return (page, vec![&left.name, &right.name]);
    }
    for name in SINGLE {
        if let Some(file) = find(name) {
            let text = source::plain(&file.text);
            return (format!("<h4>The program</h4>{text}{}", cut(file)), vec![&file.name]);
        }
    }
    (String::new(), vec![])
}

fn cut(file: &FileText) -> &'static str {
    if file.is_cut { "<p class=\"cut\">The rest is in the file.</p>" } else { "" }
}

/// Any other file.
fn file(file: &FileText) -> String {
    let rest = cut(file);
    match file.name.as_str() {
        PROGRAM => format!(
            "<details class=\"file\"><summary>the program as it was found</summary><pre class=\"program\">{}</pre>{rest}</details>",
            highlight::program(&file.text)
        ),
        "observation.json" => {
            format!("<h4>Observed</h4><pre>{}</pre>{rest}", html(file.text.trim_end()))
        }
        name => {
            // A short output is evidence and is shown at once.
            let open = if name == "output.txt" && file.text.len() < 2000 { " open" } else { "" };
            let (name, text) = (html(name), html(file.text.trim_end()));
            format!(
                "<details class=\"file\"{open}><summary>{name}</summary><pre>{text}</pre>{rest}</details>"
            )
        }
    }
}
