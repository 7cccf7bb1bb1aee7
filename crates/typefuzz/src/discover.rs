//! A fault in words, with everything that is needed to show it again.

use serde::{Deserialize, Serialize};
use serde_json::json;
use strait_findings::{Discovery, Kind};

use crate::judge::{Fault, RULES, Verdicts};
use crate::language::Language;
use crate::oracle::{Oracle, Verdict, is_built_in};
use crate::recipe::{Case, GENERATOR_VERSION, Mode, System};

/// What `finding.json` says about a finding of this part, under `types`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Details {
    /// The mode.
    pub mode: String,
    /// The built-in rules that made the program.
    pub features: Vec<String>,
    /// The user's rule files that made it; [`RULE_FILE`] has their text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// All oracles.
    pub oracles: Vec<String>,
    /// The first one that accepts.
    pub oracle_a: String,
    /// The first one that rejects.
    pub oracle_b: String,
    /// What each oracle says.
    #[serde(default)]
    pub table: Vec<Row>,
    /// The rewrites between the two programs.
    #[serde(default)]
    pub rewrite: Option<String>,
    /// Labels of the premises that are violated.
    #[serde(default)]
    pub violations: Vec<String>,
    /// Is the fault in the second program alone?
    #[serde(default)]
    pub second: bool,
}

/// What one oracle says about the programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub oracle: String,
    /// Its version.
    pub version: String,
    /// About the program.
    pub program: String,
    /// About the one that it is compared with.
    #[serde(default)]
    pub rewritten: Option<String>,
}

/// The file with the program as a term of the rules.
pub const TERM: &str = "program.term";
/// The file with the rules that are not built in.
pub const RULE_FILE: &str = "program.rules";

/// The files of a finding with programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramFiles {
    /// The program.
    pub program: &'static str,
    /// The one that it is compared with.
    pub rewritten: &'static str,
    /// The reduced program.
    pub reduced: &'static str,
    /// The reduced program that it is compared with.
    pub reduced_rewritten: &'static str,
}

impl Details {
    /// The language of the programs, unless it is one of the user's own.
    pub fn language(&self) -> Option<Language> {
        self.features.first().and_then(|name| Language::of_feature(name))
    }

    /// The files with the programs, by the language of the rules.
    pub fn program_files(&self) -> ProgramFiles {
        macro_rules! files {
            ($extension:literal) => {
                ProgramFiles {
                    program: concat!("program.", $extension),
                    rewritten: concat!("rewritten.", $extension),
                    reduced: concat!("reduced.", $extension),
                    reduced_rewritten: concat!("reduced-rewritten.", $extension),
                }
            };
        }
        match self.language() {
            Some(Language::Rust) => files!("rs"),
            Some(Language::TypeScript) => files!("ts"),
            Some(Language::Python) => files!("py"),
            None => files!("txt"),
        }
    }
}

/// A fault of a case as a finding.
pub fn discovery(
    seed: u64,
    mode: Mode,
    system: &System,
    case: &Case,
    fault: &Fault,
    verdicts: &Verdicts,
    oracles: &[Box<dyn Oracle>],
) -> Discovery {
    let first = |names: &[String]| names.first().cloned().unwrap_or_default();
    let details = Details {
        mode: mode.name().to_owned(),
        features: system.rules.features.iter().map(|name| (*name).to_owned()).collect(),
        files: system.rules.files.iter().map(|file| file.name.clone()).collect(),
        oracles: oracles.iter().map(|oracle| oracle.name().to_owned()).collect(),
        oracle_a: first(&fault.accepts),
        oracle_b: first(&fault.rejects),
        table: table(verdicts, oracles),
        rewrite: case.other.as_ref().map(|other| other.rewrite.clone()),
        violations: case.violations.iter().map(|violation| violation.label.clone()).collect(),
        second: fault.second,
    };
    let blamed = blamed(fault, oracles);
    let tool = blamed.first().map_or("oracle", |oracle| oracle.profile().tool());
    // The same whichever other oracles are asked: one cause is one finding, and its table says which oracles are concerned.
    let asked = oracles.iter().find(|oracle| oracle.profile().tool() == tool);
    let version = asked.map_or("", |oracle| oracle.version());
    let unknown = [&details.oracle_a, &details.oracle_b]
        .into_iter()
        .filter(|name| *name != RULES && !is_built_in(name));
    let mut replay_arguments: Vec<String> = Vec::new();
    for name in unknown {
        if !replay_arguments.contains(name) {
            replay_arguments.extend(["--oracle".to_owned(), name.clone()]);
        }
    }
    let shape = shape(fault, &details, &blamed);
    let target = format!("types-{tool}");
    let mut discovery = Discovery::new(fault.kind.clone(), target, version, seed, case.index)
        .title(title(fault, &details))
        .fingerprint(shape);
    discovery.generator_version = GENERATOR_VERSION;
    discovery.replay_arguments = replay_arguments;
    discovery.explanation = explanation(fault, &details);
    discovery.output = fault.why.rendered.clone().into_bytes();
    let files = details.program_files();
    discovery.sources = vec![
        (files.program.to_owned(), standalone(&system.program.print(&case.tree))),
        (TERM.to_owned(), system.program.term_text(&case.tree)),
    ];
    if let Some(other) = &case.other {
        let text = standalone(&system.program.print(&other.tree));
        discovery.sources.push((files.rewritten.to_owned(), text));
    }
    if !system.rules.files.is_empty() {
        let texts: Vec<&str> = system.rules.files.iter().map(|file| file.text.as_str()).collect();
        discovery.sources.push((RULE_FILE.to_owned(), texts.join("\n")));
    }
    discovery.details.insert("types".to_owned(), json!(details));
    discovery
}

/// A program as a file of its own, which compiles with nothing around it.
pub fn standalone(program: &str) -> String {
    let alias = if program.contains("Alias<") { "pub type Alias<T> = T;\n" } else { "" };
    format!("{alias}{program}\n")
}

/// What each oracle says about the programs.
fn table(verdicts: &Verdicts, oracles: &[Box<dyn Oracle>]) -> Vec<Row> {
    let word = |verdicts: &[Verdict], place: usize| verdicts.get(place).map(Verdict::word);
    let row = |(place, oracle): (usize, &dyn Oracle)| Row {
        oracle: oracle.name().to_owned(),
        version: oracle.version().to_owned(),
        program: word(&verdicts.first, place).unwrap_or_default(),
        rewritten: word(&verdicts.second, place),
    };
    oracles.iter().map(AsRef::as_ref).enumerate().map(row).collect()
}

/// Those who are at fault: who rejects what the rules or others accept, or accepts what the rules
/// reject.
fn blamed<'o>(fault: &Fault, oracles: &'o [Box<dyn Oracle>]) -> Vec<&'o dyn Oracle> {
    let is_rules = fault.rejects.iter().all(|name| name == RULES);
    let names = if is_rules { &fault.accepts } else { &fault.rejects };
    let named = oracles.iter().filter(|oracle| names.iter().any(|name| name == oracle.name()));
    named.map(AsRef::as_ref).collect()
}

/// What is the same when the fault shows again: the parts of compilers that are at fault, the codes,
/// and the message without names. Neither versions nor what oracles are called.
fn shape(fault: &Fault, details: &Details, blamed: &[&dyn Oracle]) -> String {
    let mut message = String::new();
    let quote = blamed.first().map_or('`', |oracle| oracle.profile().quote());
    for (position, part) in fault.why.message.split(quote).enumerate() {
        message.push_str(if position % 2 == 0 { part } else { "_" });
    }
    let stage = fault.why.stage();
    let mut sides: Vec<&str> = blamed.iter().map(|oracle| oracle.profile().side(stage)).collect();
    sides.sort_unstable();
    sides.dedup();
    // The store strips numbers from fingerprints, and an error code is nothing but one.
    let spelled = |char: char| match char.to_digit(10) {
        Some(digit) => char::from(b'a' + digit as u8),
        None => char,
    };
    let codes: String = fault.why.codes.join(" ").chars().map(spelled).collect();
    let labels =
        if fault.kind == Kind::SOUNDNESS { details.violations.join(" ") } else { String::new() };
    format!("{} {codes} {message} {labels}", sides.join(" "))
}

fn title(fault: &Fault, details: &Details) -> String {
    let message = &fault.why.message;
    let code = fault.why.codes.first().map(|code| format!("{code}: ")).unwrap_or_default();
    let accepts = listed(&fault.accepts, "accepts", "accept");
    let rejects = listed(&fault.rejects, "rejects", "reject");
    let violated = match details.violations.as_slice() {
        [] => String::new(),
        labels => format!(" a program that violates `{}`", labels.join(", ")),
    };
    match fault.kind.as_str() {
        "precision" => format!("{rejects} a well-typed program, {code}{message}"),
        "soundness" => format!("{accepts}{violated}"),
        "consistency" => {
            let rewrite = details.rewrite.as_deref().unwrap_or("a rewrite");
            let changes = listed(&fault.rejects, "judges", "judge");
            format!("{changes} a program differently after {rewrite}, {code}{message}")
        }
        "disagreement" => format!("{accepts} and {rejects}{violated}, {code}{message}"),
        "crash" => {
            let crashes = listed(&fault.rejects, "crashes", "crash");
            format!("{crashes}: {message}")
        }
        "slowdown" => format!("{} {message} as {}", details.oracle_b, details.oracle_a),
        _ => format!("{} cannot read it, {message}", details.oracle_b),
    }
}

/// `rustc rejects`; `rustc and 2 others reject`.
fn listed(names: &[String], one: &str, several: &str) -> String {
    match names {
        [] => one.to_owned(),
        [name] => format!("{name} {one}"),
        [first, second] => format!("{first} and {second} {several}"),
        [first, rest @ ..] => format!("{first} and {} others {several}", rest.len()),
    }
}

fn explanation(fault: &Fault, details: &Details) -> String {
    let ProgramFiles { program: first, rewritten: second, .. } = details.program_files();
    let rules: Vec<&str> =
        details.features.iter().chain(&details.files).map(String::as_str).collect();
    let mut text =
        format!("{}\nmode {}, features {}\n", fault.kind.meaning(), details.mode, rules.join(" "));
    text += &match details.violations.as_slice() {
        [] => "The rules derive the program: it is well typed.\n".to_owned(),
        labels => format!("One premise is violated ({}): it is ill typed.\n", labels.join(", ")),
    };
    if let Some(rewrite) = &details.rewrite {
        text += &format!("{second} is {first} after {rewrite}, which preserves types.\n");
    }
    for Row { oracle, version, program, rewritten } in &details.table {
        text += &format!("{oracle} {version} {program} {first}");
        if let Some(rewritten) = rewritten {
            text += &format!(", {rewritten} {second}");
        }
        text.push('\n');
    }
    text
}
