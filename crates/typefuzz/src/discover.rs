//! A fault in words, with everything that is needed to show it again.

use serde::{Deserialize, Serialize};
use serde_json::json;
use strait_findings::{Discovery, Kind};

use crate::judge::{Fault, RULES, Verdicts};
use crate::oracle::{ORACLES, Oracle, Verdict};
use crate::recipe::{Case, GENERATOR_VERSION, Mode, System};

/// What `finding.json` says about a finding of this part, under `types`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Details {
    /// The mode.
    pub mode: String,
    /// The features whose rules made the program.
    pub features: Vec<String>,
    /// All oracles.
    pub oracles: Vec<String>,
    /// Who accepts.
    pub oracle_a: String,
    /// Who rejects.
    pub oracle_b: String,
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

/// The file with the program.
pub const PROGRAM: &str = "program.rs";
/// The file with the program it is compared with.
pub const REWRITTEN: &str = "rewritten.rs";
/// The file with the program as a term of the rules.
pub const TERM: &str = "program.term";

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
    let blamed = if fault.rejects == RULES { &fault.accepts } else { &fault.rejects };
    let version =
        oracles.iter().find(|oracle| oracle.name() == blamed).map_or("", |oracle| oracle.version());
    let details = Details {
        mode: mode.name().to_owned(),
        features: system.features.iter().map(|name| (*name).to_owned()).collect(),
        oracles: oracles.iter().map(|oracle| oracle.name().to_owned()).collect(),
        oracle_a: fault.accepts.clone(),
        oracle_b: fault.rejects.clone(),
        rewrite: case.other.as_ref().map(|other| other.rewrite.clone()),
        violations: case.violations.iter().map(|violation| violation.label.clone()).collect(),
        second: fault.second,
    };
    let unknown = [&details.oracle_a, &details.oracle_b]
        .into_iter()
        .filter(|name| *name != RULES && !ORACLES.contains(&name.as_str()));
    let mut replay_arguments: Vec<String> = Vec::new();
    for name in unknown {
        if !replay_arguments.contains(name) {
            replay_arguments.extend(["--oracle".to_owned(), name.clone()]);
        }
    }
    let shape = shape(fault, &details);
    let mut discovery =
        Discovery::new(fault.kind.clone(), target_name(blamed), version, seed, case.index)
            .title(title(fault, &details))
            .fingerprint(shape);
    discovery.generator_version = GENERATOR_VERSION;
    discovery.replay_arguments = replay_arguments;
    discovery.explanation = explanation(fault, &details, verdicts);
    discovery.output = fault.why.rendered.clone().into_bytes();
    discovery.sources = vec![
        (PROGRAM.to_owned(), standalone(&system.program.print(&case.tree))),
        (TERM.to_owned(), system.program.term_text(&case.tree)),
    ];
    if let Some(other) = &case.other {
        let text = standalone(&system.program.print(&other.tree));
        discovery.sources.push((REWRITTEN.to_owned(), text));
    }
    discovery.details.insert("types".to_owned(), json!(details));
    discovery
}

/// A program as a file of its own, which compiles with nothing around it.
pub fn standalone(program: &str) -> String {
    let alias = if program.contains("Alias<") { "pub type Alias<T> = T;\n" } else { "" };
    format!("{alias}{program}\n")
}

/// The last part of a path is the name for people and folders.
fn target_name(oracle: &str) -> String {
    let name = oracle.rsplit('/').next().unwrap_or(oracle);
    format!("types-{name}")
}

/// What is the same when the fault shows again: who, the codes, and the message without names.
fn shape(fault: &Fault, details: &Details) -> String {
    let mut message = String::new();
    for (position, part) in fault.why.message.split('`').enumerate() {
        message.push_str(if position % 2 == 0 { part } else { "_" });
    }
    // The store strips numbers from fingerprints, and an error code is nothing but one.
    let spelled = |char: char| match char.to_digit(10) {
        Some(digit) => char::from(b'a' + digit as u8),
        None => char,
    };
    let codes: String = fault.why.codes.join(" ").chars().map(spelled).collect();
    let labels =
        if fault.kind == Kind::SOUNDNESS { details.violations.join(" ") } else { String::new() };
    format!("{} {} {codes} {message} {labels}", fault.accepts, fault.rejects)
}

fn title(fault: &Fault, details: &Details) -> String {
    let message = &fault.why.message;
    let code = fault.why.codes.first().map(|code| format!("{code}: ")).unwrap_or_default();
    match fault.kind.as_str() {
        "precision" => format!("{} rejects a well-typed program, {code}{message}", fault.rejects),
        "soundness" => {
            format!(
                "{} accepts a program that violates `{}`",
                fault.accepts,
                details.violations.join(", ")
            )
        }
        "consistency" => {
            let rewrite = details.rewrite.as_deref().unwrap_or("a rewrite");
            format!("{} changes its mind after {rewrite}, {code}{message}", fault.rejects)
        }
        "disagreement" => {
            format!("{} accepts and {} rejects, {code}{message}", fault.accepts, fault.rejects)
        }
        "crash" => format!("{} does not survive: {message}", fault.rejects),
        _ => format!("{} cannot read it, {message}", fault.rejects),
    }
}

fn explanation(fault: &Fault, details: &Details, verdicts: &Verdicts) -> String {
    let mut text = format!(
        "{}\nmode {}, features {}\n",
        fault.kind.meaning(),
        details.mode,
        details.features.join(" ")
    );
    let ill_typed = !details.violations.is_empty();
    text += &match ill_typed {
        false => "the rules derive the program: it is well typed\n".to_owned(),
        true => format!(
            "one premise is violated ({}): it is ill typed\n",
            details.violations.join(", ")
        ),
    };
    if let Some(rewrite) = &details.rewrite {
        text += &format!("{REWRITTEN} is {PROGRAM} after {rewrite}, which preserves types\n");
    }
    let mut told = |file: &str, all: &[Verdict]| {
        for (name, verdict) in details.oracles.iter().zip(all) {
            text += &format!("{name} {} {file}\n", verdict.word());
        }
    };
    told(PROGRAM, &verdicts.first);
    told(REWRITTEN, &verdicts.second);
    text
}
