//! Typecheckers of other languages than Rust. In: many programs, each of which becomes a file of its own
//! in a scratch folder. Out: what one run of the checker says about each, by the file that a message names.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_toolchain::{Captured, End, Finished, Launcher, Limits, Scratch, Spec, run};

use crate::error::Error;
use crate::language::Language;
use crate::oracle::diagnostics::LONGEST;
use crate::oracle::{
    Oracle, Profile, Question, Rejection, Run, RunResult, mypy, pyrefly, pyright, tool_version,
    tsc, ty,
};

/// The memory of a checker and all that it starts.
const MEMORY: u64 = 6 << 30;
/// The most that is kept of the beginning and of the end of each output.
const KEEP: usize = 8 << 20;

/// What differs between the checkers.
pub(super) struct Checker {
    /// The name of the oracle and of its command.
    pub(super) name: &'static str,
    pub(super) language: Language,
    /// How to get it.
    pub(super) get: &'static str,
    /// What stands before the names of the files.
    pub(super) arguments: &'static [&'static str],
    /// A file beside the programs that says how they are checked: its name and its text.
    pub(super) configuration: Option<(&'static str, &'static str)>,
    /// Reads what it wrote.
    pub(super) read: fn(&Finished) -> Messages,
}

/// All checkers.
pub(super) const CHECKERS: [&Checker; 6] =
    [&tsc::TSC, &tsc::TSGO, &mypy::MYPY, &pyright::PYRIGHT, &pyrefly::PYREFLY, &ty::TY];

/// The checker of this name.
pub(super) fn named(name: &str) -> Option<&'static Checker> {
    CHECKERS.into_iter().find(|checker| checker.name == name)
}

/// What a checker wrote.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Its errors.
    pub(super) errors: Vec<Message>,
    /// What it says about a fault of its own, if there is one.
    pub(super) crashed: Option<String>,
}

/// An error in a program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// The file, by name or by path; empty if the message names none.
    pub(super) file: String,
    pub(super) code: String,
    pub(super) text: String,
    /// Does the parser say it?
    pub(super) is_syntax: bool,
}

struct Checking {
    checker: &'static Checker,
    name: String,
    version: String,
    program: PathBuf,
    flags: Vec<String>,
    profile: Profile,
    launcher: Launcher,
    scratch: Scratch,
    stop: Arc<AtomicBool>,
    wall: Duration,
}

/// The checker of this name in PATH.
pub(super) fn installed(
    question: &Question<'_>,
    checker: &'static Checker,
) -> Result<Box<dyn Oracle>, Error> {
    let found = tool_version(question, checker.name.as_ref());
    let tool = found.map_err(|_| {
        let Checker { name, get, .. } = checker;
        question.unusable(format!("`{name} --version` says no version; {get}"))
    })?;
    // What is called tsc may be either of the two.
    let checker = of_tool(&tool.tool, &tool.version).unwrap_or(checker);
    at(question, checker, Path::new(question.base), tool.version)
}

/// The checker that says this about itself.
pub(super) fn of_tool(tool: &str, version: &str) -> Option<&'static Checker> {
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    match (tool, major) {
        ("Version", Some(major)) if major >= tsc::FIRST_NATIVE => Some(&tsc::TSGO),
        ("Version", Some(_)) => Some(&tsc::TSC),
        (tool, _) => named(tool),
    }
}

/// A checker by its path.
pub(super) fn at(
    question: &Question<'_>,
    checker: &'static Checker,
    program: &Path,
    version: String,
) -> Result<Box<dyn Oracle>, Error> {
    let checking = Checking {
        checker,
        name: question.name.to_owned(),
        version,
        program: program.to_owned(),
        flags: question.flags.iter().map(|flag| (*flag).to_owned()).collect(),
        profile: Profile::of(checker.name),
        launcher: question.launcher.clone(),
        scratch: Scratch::new("types").map_err(Error::TemporaryFolder)?,
        stop: Arc::clone(question.stop),
        wall: question.wall,
    };
    question.checked(Box::new(checking), "")
}

impl Checking {
    fn file_name(&self, program: usize) -> String {
        format!("p{program}.{}", self.checker.language.extension())
    }

    /// The program that a message is about.
    fn program_of(&self, file: &str) -> Option<usize> {
        let name = Path::new(file).file_name()?.to_str()?;
        let stem = name.strip_suffix(self.checker.language.extension())?.strip_suffix('.')?;
        stem.strip_prefix('p')?.parse().ok()
    }

    fn sorted(&self, finished: &Finished, programs: usize) -> Run {
        let Messages { errors, crashed } = (self.checker.read)(finished);
        let mut run = Run {
            rejections: vec![None; programs],
            astray: None,
            crashed: misdeed(&finished.end, crashed).map(|how| (how, last(finished))),
            stopped: finished.end == End::Stopped,
            cpu: finished.cpu,
        };
        for message in errors {
            let place =
                self.program_of(&message.file).and_then(|place| run.rejections.get_mut(place));
            add(place.unwrap_or(&mut run.astray).get_or_insert_default(), message);
        }
        // Rejected without a word that we understand: that is no rejection and must not be lost.
        let is_silent = run.astray.is_none() && run.rejections.iter().all(Option::is_none);
        if is_silent && run.crashed.is_none() && !run.stopped && !finished.end.is_success() {
            let rendered = last(finished);
            let message = rendered.lines().last().unwrap_or("rejected").to_owned();
            run.astray = Some(Rejection { message, rendered, ..Rejection::default() });
        }
        run
    }
}

fn add(rejection: &mut Rejection, message: Message) {
    let Message { code, text, is_syntax, .. } = message;
    if rejection.message.is_empty() {
        rejection.message.clone_from(&text);
    }
    rejection.is_syntax |= is_syntax;
    if rejection.rendered.len() < LONGEST {
        let line = format!("{code}: {text}\n");
        rejection.rendered.extend(line.chars().take(LONGEST));
    }
    if !code.is_empty() && !rejection.codes.contains(&code) {
        rejection.codes.push(code);
    }
}

/// The end of what a checker wrote.
fn last(finished: &Finished) -> String {
    let lines = |captured: &Captured| {
        let lines = captured.last_lines(40);
        let end = lines.len().saturating_sub(LONGEST / 2);
        lines[lines.ceil_char_boundary(end)..].to_owned()
    };
    format!("{}\n{}", lines(&finished.stdout), lines(&finished.stderr)).trim().to_owned()
}

/// What a checker did besides accepting and rejecting, if anything.
fn misdeed(end: &End, crashed: Option<String>) -> Option<String> {
    match end {
        End::Stopped => None,
        End::TimedOut => Some("hangs".to_owned()),
        End::OverLimit(resource) => Some(format!("uses too {resource}")),
        End::Signalled(signal) => Some(signal.clone()),
        End::Exited(_) => crashed,
    }
}

impl Oracle for Checking {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn language(&self) -> Option<Language> {
        Some(self.checker.language)
    }

    fn run(&self, programs: &[&str]) -> Result<RunResult, Error> {
        let folder = tempfile::tempdir_in(self.scratch.path()).map_err(Error::TemporaryFolder)?;
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).map_err(Error::file(&path))
        };
        let names: Vec<String> = (0..programs.len()).map(|place| self.file_name(place)).collect();
        for (name, program) in names.iter().zip(programs) {
            write(name, &format!("{program}\n"))?;
        }
        if let Some((name, text)) = self.checker.configuration {
            write(name, text)?;
        }
        let spec = Spec::new(&self.program)
            .arguments(self.checker.arguments)
            .arguments(&self.flags)
            .arguments(&names)
            .directory(folder.path())
            .temporary(folder.path())
            .limits(Limits { memory: Some(MEMORY), ..Limits::default() })
            .wall(self.wall)
            .keep(KEEP)
            .cancel(Arc::clone(&self.stop))
            .variable("NO_COLOR", "1")
            .variable("PYRIGHT_PYTHON_IGNORE_WARNINGS", "1");
        let finished = run(&self.launcher, &spec)?;
        Ok(RunResult(self.sorted(&finished, programs.len())))
    }
}

/// Splits `FILE:LINE:REST`, as most checkers begin a message.
pub(super) fn split_place(line: &str) -> Option<(&str, &str)> {
    let (file, rest) = line.split_once(':')?;
    let (number, rest) = rest.split_once(':')?;
    number.parse::<usize>().ok()?;
    Some((file, rest))
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use strait_toolchain::{Captured, End, Finished};

    use super::*;

    /// What a checker is read as that wrote this and ended with this code.
    pub(in crate::oracle) fn read(checker: &Checker, code: i32, output: &str) -> Messages {
        let stdout = Captured { first: output.as_bytes().to_vec(), ..Captured::default() };
        let stderr = Captured::default();
        let finished = Finished {
            end: End::Exited(code),
            stdout,
            stderr,
            wall: Duration::ZERO,
            cpu: None,
            peak_memory: None,
        };
        (checker.read)(&finished)
    }

    /// The same as words.
    pub(in crate::oracle) fn words(checker: &Checker, code: i32, output: &str) -> Vec<String> {
        let Messages { errors, crashed } = read(checker, code, output);
        let word = |error: Message| {
            let syntax = if error.is_syntax { " (syntax)" } else { "" };
            format!("{} {} {}{syntax}", error.file, error.code, error.text)
        };
        let crashed = crashed.map(|how| format!("crashed: {how}"));
        errors.into_iter().map(word).chain(crashed).collect()
    }

    #[test]
    fn a_tool_is_known_by_what_it_says() {
        let table = [
            ("Version", "5.9.3", Some("tsc")),
            ("Version", "7.0.2", Some("tsgo")),
            ("mypy", "2.4.1", Some("mypy")),
            ("ty", "0.0.104", Some("ty")),
            ("rustc", "1.95.0", None),
        ];
        for (tool, version, expected) in table {
            let found = of_tool(tool, version).map(|checker| checker.name);
            assert_eq!(found, expected, "{tool} {version}");
        }
    }
}
