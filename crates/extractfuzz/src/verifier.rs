//! Asks the verifier: questions come in, its answers go out. One start serves a whole batch; when
//! that fails or takes too long, the batch is divided to find the program that is the cause.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::error::Error;
use crate::go::{GO_MOD, write};
use crate::judge::Question;
use crate::print::{test_name, verify_file};
use crate::tools::Tools;
use crate::tree::Program;

/// The folder of the tests.
const FOLDER: &str = "verify";
const BLOCK: &str = "package verify\n\nfunc block() { <-make(chan int) }\n";
/// The properties that make a violation. The others are facts rather than faults.
const PROPERTIES: [&str; 6] =
    ["no-deadlock", "live", "no-leak", "channel-safe", "mutex-safe", "waitgroup-safe"];

/// Limits that are enough for the small programs of the fuzzer and the corpus.
pub const LIMITS: [&str; 6] = ["--time", "10s", "--extraction-time", "10m", "--states", "300000"];
/// The time for a folder of programs that the verifier is known to read.
pub const WALL: Duration = Duration::from_secs(600);

/// What the verifier says about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every property holds.
    Yes,
    /// A property does not hold.
    No,
    /// Neither.
    Unknown,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Yes, no or unknown.
    pub verdict: Verdict,
    /// The first reason that it gives.
    pub why: String,
    /// An assumption says that the model can do more than the program.
    pub may_do_more: bool,
}

impl Answer {
    fn unknown(why: impl Into<String>) -> Self {
        Answer { verdict: Verdict::Unknown, why: why.into(), may_do_more: false }
    }
}

#[derive(Deserialize)]
struct Document {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    entry: String,
    properties: HashMap<String, Property>,
    assumptions: Vec<Assumption>,
}

#[derive(Deserialize)]
struct Property {
    holds: Option<bool>,
    why: String,
}

#[derive(Deserialize)]
struct Assumption {
    approximation: String,
    message: String,
}

/// A program with its place in the batch and what is asked about it.
pub type Asked<'a> = (usize, &'a Program, &'a [Question]);

/// The answers for each program, in the order of its questions.
pub fn ask(
    tools: &Tools,
    module: &Path,
    programs: &[Asked<'_>],
) -> Result<Vec<Vec<Answer>>, Error> {
    if programs.is_empty() {
        return Ok(Vec::new());
    }
    let folder = module.join(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(Error::file(&folder))?;
    }
    fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    write(&module.join("go.mod"), GO_MOD)?;
    write(&folder.join("block.go"), BLOCK)?;
    for (slot, program, questions) in programs {
        let file = folder.join(format!("p{slot}_test.go"));
        write(&file, &verify_file(program, *slot, questions))?;
    }
    let wall = Duration::from_secs(20 + programs.len() as u64);
    let answers = match entries(tools, module, "./verify", &LIMITS, wall) {
        Ok(answers) => answers,
        // A single program that the verifier cannot read is unknown.
        Err(Error::Verifier { end, stderr }) if programs.len() == 1 => {
            let answer = Answer::unknown(format!("the verifier failed: {end}: {stderr}"));
            return Ok(vec![vec![answer; programs[0].2.len()]]);
        }
        Err(Error::Verifier { .. }) => {
            let (left, right) = programs.split_at(programs.len() / 2);
            let mut answers = ask(tools, module, left)?;
            answers.extend(ask(tools, module, right)?);
            return Ok(answers);
        }
        Err(error) => return Err(error),
    };
    let answer = |slot: usize, question: &Question| {
        let name = format!("fuzz/{FOLDER}.{}", test_name(question, &format!("p{slot}")));
        answers.get(&name).cloned().unwrap_or_else(|| Answer::unknown("the entry is missing"))
    };
    let each = programs.iter().map(|(slot, _, questions)| {
        questions.iter().map(|question| answer(*slot, question)).collect()
    });
    Ok(each.collect())
}

/// The answers for all entries of these packages, by the path of the entry.
pub fn entries(
    tools: &Tools,
    module: &Path,
    packages: &str,
    limits: &[&str],
    wall: Duration,
) -> Result<HashMap<String, Answer>, Error> {
    let arguments = [&["go", "verify", "--json"], limits, &[packages]].concat();
    let finished = tools.verifier(module, &arguments, wall)?;
    let document: Document = serde_json::from_str(&finished.stdout.text()).map_err(|_| {
        Error::Verifier { end: finished.end.to_string(), stderr: finished.stderr.last_lines(3) }
    })?;
    Ok(document.entries.iter().map(|entry| (entry.entry.clone(), judge(entry))).collect())
}

fn judge(entry: &Entry) -> Answer {
    let properties = || PROPERTIES.iter().filter_map(|name| entry.properties.get(*name));
    let may_do_more = entry.assumptions.iter().any(|one| one.approximation != "under");
    let assumed = entry.assumptions.first().map(|one| one.message.as_str()).unwrap_or_default();
    let answer = |verdict, why: &str| Answer { verdict, why: why.into(), may_do_more };
    if let Some(violated) = properties().find(|property| property.holds == Some(false)) {
        return answer(Verdict::No, format!("{} {assumed}", violated.why).trim_end());
    }
    match properties().find(|property| property.holds.is_none()) {
        Some(unknown) => answer(Verdict::Unknown, &unknown.why),
        None if properties().count() < PROPERTIES.len() => {
            answer(Verdict::Unknown, "the verifier did not answer for every property")
        }
        None => answer(Verdict::Yes, ""),
    }
}
