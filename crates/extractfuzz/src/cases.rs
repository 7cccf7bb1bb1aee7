//! Programs with known truth. In: a folder with `go-verify`, a Go module, and `go-semantics.py`,
//! which writes a Go test package. Out: each case with what the verifier says about it. The cases
//! are read from the sources, so one that the verifier does not find counts as unknown.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use strait_toolchain::Scratch;

use crate::error::Error;
use crate::go::write;
use crate::tools::Tools;
use crate::verifier::{Answer, Verdict, WALL, entries};

/// The Go module with hand-written cases.
const MODULE: &str = "go-verify";
/// The program that writes the cases of Go's semantics into the folder `s`.
const SCRIPT: &str = "go-semantics.py";
const SEMANTICS_MOD: &str = "module semantics.example\n\ngo 1.26\n";

/// Cases whose truth is stated in the folder's README only.
const STATED: [(&str, Truth); 2] =
    [("two_packages/a.main", Truth::Bug), ("two_packages/b.TestNothing", Truth::Fine)];

/// What a program does in fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// No execution blocks forever or misuses a channel, lock or wait group.
    Fine,
    /// Some execution does.
    Bug,
}

impl Truth {
    /// From a name that ends in `_ok` or `_bug`.
    fn of_name(name: &str) -> Option<Truth> {
        match name.rsplit_once('_')?.1 {
            "ok" => Some(Truth::Fine),
            "bug" => Some(Truth::Bug),
            _ => None,
        }
    }

    /// From the comment above a function.
    fn of_comment(comment: &[&str]) -> Option<Truth> {
        let stated = comment.iter().find_map(|line| line.strip_prefix("// truth: "))?;
        Some(if stated.starts_with("fine") { Truth::Fine } else { Truth::Bug })
    }
}

/// A program with known truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The folder in its module, and the function where each function is a case of its own.
    pub name: String,
    /// What it does in fact.
    pub truth: Truth,
    /// The only entry that counts; all entries of the folder where there is none.
    function: Option<String>,
    folder: String,
}

/// How the verifier's answer compares with the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseResult {
    /// A bug is reported, or a program without one is proved.
    Right,
    /// A program with a bug is proved.
    WrongProof,
    /// A violation is reported where there is none.
    FalseAlarm,
    /// The verifier does not know.
    Unknown,
}

/// A case with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedCase {
    /// The case.
    pub case: Case,
    /// Right, wrong or unknown.
    pub result: CaseResult,
    /// What the verifier says.
    pub why: String,
}

/// Runs all cases of a folder, which is not changed.
pub fn check_cases(tools: &Tools, folder: &Path) -> Result<Vec<JudgedCase>, Error> {
    let scratch = Scratch::new("go-cases").map_err(Error::file(std::env::temp_dir()))?;
    let module = scratch.path().join(MODULE);
    copy(&folder.join(MODULE), &module)?;
    let semantics = scratch.path().join("semantics");
    write_semantics(tools, &folder.join(SCRIPT), &semantics)?;
    let mut judged = check_module(tools, &module)?;
    judged.extend(check_module(tools, &semantics)?);
    Ok(judged)
}

/// Copies file contents but not permissions: the source may be read-only.
fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    fs::create_dir_all(to).map_err(Error::file(to))?;
    for path in children(from)? {
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            let text = fs::read(&path).map_err(Error::file(&path))?;
            fs::write(to.join(name), text).map_err(Error::file(to.join(name)))?;
        }
    }
    Ok(())
}

fn write_semantics(tools: &Tools, script: &Path, module: &Path) -> Result<(), Error> {
    let script = script.canonicalize().map_err(Error::file(script))?;
    let package = module.join("s");
    fs::create_dir_all(&package).map_err(Error::file(&package))?;
    write(&module.join("go.mod"), SEMANTICS_MOD)?;
    let finished = tools.python(module, &script)?;
    if finished.end.is_success() {
        return Ok(());
    }
    Err(Error::Script {
        script: format!("python3 {}", script.display()),
        end: finished.end.to_string(),
        stderr: finished.stderr.last_lines(3),
    })
}

/// Asks the verifier about a module and compares its answers with the truth.
fn check_module(tools: &Tools, module: &Path) -> Result<Vec<JudgedCase>, Error> {
    let mut cases = Vec::new();
    find_cases(module, "", &mut cases)?;
    let answers = entries(tools, module, "./...", &[], WALL)?;
    Ok(cases.into_iter().map(|case| judge(case, &answers)).collect())
}

/// The cases in a folder and the folders below it.
fn find_cases(folder: &Path, name: &str, cases: &mut Vec<Case>) -> Result<(), Error> {
    let paths = children(folder)?;
    let sources = paths.iter().filter(|path| path.extension().is_some_and(|ending| ending == "go"));
    match Truth::of_name(name) {
        Some(truth) if sources.clone().next().is_some() => {
            cases.push(Case { name: name.into(), truth, function: None, folder: name.into() });
        }
        _ => {
            for source in sources {
                let text = fs::read_to_string(source).map_err(Error::file(source))?;
                cases.extend(functions(&text, name)?);
            }
        }
    }
    for path in paths.iter().filter(|path| path.is_dir()) {
        let below = path.file_name().unwrap_or_default().to_string_lossy();
        let below = if name.is_empty() { below.into_owned() } else { format!("{name}/{below}") };
        find_cases(path, &below, cases)?;
    }
    Ok(())
}

/// One case for each test and `main` of a source file.
pub(crate) fn functions(text: &str, folder: &str) -> Result<Vec<Case>, Error> {
    let lines: Vec<&str> = text.lines().collect();
    let mut cases = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix("func ") else { continue };
        let function = rest.split('(').next().unwrap_or_default();
        if function != "main" && !function.starts_with("Test") {
            continue;
        }
        let is_comment = |line: &&&str| line.starts_with("//");
        let comment: Vec<&str> =
            lines[..number].iter().rev().take_while(is_comment).copied().collect();
        let name = format!("{folder}.{function}");
        let stated = || STATED.iter().find(|(stated, _)| *stated == name).map(|(_, truth)| *truth);
        let truth = Truth::of_name(function).or_else(|| Truth::of_comment(&comment));
        let truth = truth.or_else(stated).ok_or_else(|| Error::NoTruth(name.clone()))?;
        let (function, folder) = (Some(function.into()), folder.into());
        cases.push(Case { name, truth, function, folder });
    }
    Ok(cases)
}

/// Compares the answers about one case with its truth. A bug may show in any entry of its folder.
fn judge(case: Case, answers: &HashMap<String, Answer>) -> JudgedCase {
    let own = |entry: &str| {
        let Some((package, function)) = entry.rsplit_once('.') else { return false };
        let in_folder =
            package.strip_suffix(&case.folder).is_some_and(|module| module.ends_with('/'));
        in_folder && case.function.as_deref().is_none_or(|name| name == function)
    };
    let own: Vec<&Answer> =
        answers.iter().filter(|(entry, _)| own(entry)).map(|(_, answer)| answer).collect();
    let with = |verdict| own.iter().find(|answer| answer.verdict == verdict);
    let (verdict, why) = match (with(Verdict::No), with(Verdict::Unknown), own.first()) {
        (Some(answer), ..) | (None, Some(answer), _) => (answer.verdict, answer.why.clone()),
        (None, None, Some(_)) => (Verdict::Yes, "every property holds".into()),
        (None, None, None) => (Verdict::Unknown, "the verifier found no entry".into()),
    };
    let result = compare(case.truth, verdict);
    JudgedCase { case, result, why }
}

pub(crate) fn compare(truth: Truth, verdict: Verdict) -> CaseResult {
    match (truth, verdict) {
        (Truth::Bug, Verdict::No) | (Truth::Fine, Verdict::Yes) => CaseResult::Right,
        (Truth::Bug, Verdict::Yes) => CaseResult::WrongProof,
        (Truth::Fine, Verdict::No) => CaseResult::FalseAlarm,
        (_, Verdict::Unknown) => CaseResult::Unknown,
    }
}

/// What is in a folder, by name.
fn children(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(Error::file(folder))?;
    let paths = entries.map(|entry| Ok(entry.map_err(Error::file(folder))?.path()));
    let mut paths = paths.collect::<Result<Vec<PathBuf>, Error>>()?;
    paths.sort();
    Ok(paths)
}
