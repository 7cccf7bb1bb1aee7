//! Runs a table of steps to its end and sums it up.
//!
//! In: steps, each a name, a class and a function. Out: a heading and a duration a step as they
//! happen, then a [`Summary`] whose last line is `xtask: N passed, M failed[, K skipped]`.
//! Every step runs, whatever happened to those before it, so that one run shows all there is to
//! repair.

use std::fmt;
use std::time::Instant;

use crate::workspace::Workspace;

/// One entry of a suite.
#[derive(Clone, Copy)]
pub struct Step {
    /// What it is called on the command line and in the output.
    pub name: &'static str,
    /// What it needs to be there.
    pub class: Class,
    /// Does the work; output goes straight to the terminal.
    pub run: fn(&Workspace) -> Outcome,
}

impl Step {
    /// A line of a table.
    pub const fn new(name: &'static str, class: Class, run: fn(&Workspace) -> Outcome) -> Self {
        Self { name, class, run }
    }
}

/// What a step needs beyond the source, which decides whether it may be skipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// The Rust toolchain with rustfmt and clippy.
    Rust,
    /// A Go toolchain.
    Go,
    /// A Java virtual machine and the compilers on it.
    Jvm,
    /// A web browser.
    Browser,
    /// A further target or toolchain of Rust.
    Toolchain,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 5] = [Self::Rust, Self::Go, Self::Jvm, Self::Browser, Self::Toolchain];

    /// Is a skipped step of this class a failure where `CI=true`?
    pub fn required_in_ci(&self) -> bool {
        match self {
            Self::Rust | Self::Go | Self::Jvm => true,
            Self::Browser | Self::Toolchain => false,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Rust => "Rust",
            Self::Go => "Go",
            Self::Jvm => "JVM",
            Self::Browser => "browser",
            Self::Toolchain => "toolchain",
        })
    }
}

/// How a step ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It ran and found nothing wrong.
    Passed,
    /// It ran and found something, in one line.
    Failed(String),
    /// It could not run: what is missing and how to get it, in one line.
    Skipped(String),
}

/// The steps of `table` that are named, in the order of the table; all of them when none is.
pub fn select(table: &[Step], names: &[String]) -> Result<Vec<Step>, String> {
    let known = |name: &&String| table.iter().any(|step| step.name == name.as_str());
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let all: Vec<&str> = table.iter().map(|step| step.name).collect();
        return Err(format!("there is no step `{unknown}`; the steps are: {}", all.join(", ")));
    }
    let wanted = |step: &&Step| names.is_empty() || names.iter().any(|name| name == step.name);
    Ok(table.iter().filter(wanted).copied().collect())
}

/// Runs the steps one after the other.
pub fn run(steps: &[Step], workspace: &Workspace, ci: bool) -> Summary {
    let mut summary = Summary::new(ci);
    for step in steps {
        println!("\n== {} ==", step.name);
        let started = Instant::now();
        let outcome = (step.run)(workspace);
        let seconds = started.elapsed().as_secs_f64();
        match &outcome {
            Outcome::Passed => println!("-- {}: passed in {seconds:.1} s", step.name),
            Outcome::Failed(what) => {
                println!("-- {}: FAILED in {seconds:.1} s: {what}", step.name);
            }
            Outcome::Skipped(why) => println!("-- {}: SKIPPED: {why}", step.name),
        }
        summary.add(step, outcome);
    }
    summary
}

/// What became of the steps.
pub struct Summary {
    ci: bool,
    passed: usize,
    failures: Vec<String>,
    skips: Vec<String>,
}

impl Summary {
    fn new(ci: bool) -> Self {
        Self { ci, passed: 0, failures: Vec::new(), skips: Vec::new() }
    }

    fn add(&mut self, step: &Step, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed(what) => self.failures.push(format!("{}: {what}", step.name)),
            Outcome::Skipped(why) if self.ci && step.class.required_in_ci() => {
                self.failures.push(format!(
                    "{}: skipped, which CI=true forbids for {} steps: {why}",
                    step.name, step.class
                ));
            }
            Outcome::Skipped(why) => self.skips.push(format!("{}: {why}", step.name)),
        }
    }

    /// How many steps failed, forbidden skips included.
    pub fn failed(&self) -> usize {
        self.failures.len()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for skip in &self.skips {
            writeln!(formatter, "SKIPPED  {skip}")?;
        }
        for failure in &self.failures {
            writeln!(formatter, "FAILED   {failure}")?;
        }
        write!(formatter, "xtask: {} passed, {} failed", self.passed, self.failures.len())?;
        if !self.skips.is_empty() {
            write!(formatter, ", {} skipped", self.skips.len())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Step = Step::new("good", Class::Rust, |_| Outcome::Passed);
    const BAD: Step = Step::new("bad", Class::Rust, |_| Outcome::Failed("two tests".into()));
    const NO_GO: Step = Step::new("go", Class::Go, |_| Outcome::Skipped("no `go`".into()));
    const NO_BROWSER: Step =
        Step::new("page", Class::Browser, |_| Outcome::Skipped("no browser".into()));

    fn check(steps: &[Step], ci: bool, expected: &str) {
        let workspace = Workspace::at(".");
        assert_eq!(run(steps, &workspace, ci).to_string(), expected);
    }

    #[test]
    fn passes_and_failures_are_counted_to_the_end() {
        check(&[GOOD, GOOD], false, "xtask: 2 passed, 0 failed");
        check(&[BAD, GOOD], false, "FAILED   bad: two tests\nxtask: 1 passed, 1 failed");
    }

    #[test]
    fn a_skip_is_said_aloud() {
        check(&[GOOD, NO_GO], false, "SKIPPED  go: no `go`\nxtask: 1 passed, 0 failed, 1 skipped");
    }

    #[test]
    fn ci_forbids_skips_of_required_classes_only() {
        check(
            &[NO_GO, NO_BROWSER],
            true,
            "SKIPPED  page: no browser\n\
             FAILED   go: skipped, which CI=true forbids for Go steps: no `go`\n\
             xtask: 0 passed, 1 failed, 1 skipped",
        );
    }

    #[test]
    fn steps_are_selected_by_name_in_the_order_of_the_table() {
        let names = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            select(&[GOOD, BAD, NO_GO], &names)
                .map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]), Ok(vec!["good", "bad", "go"]));
        assert_eq!(names(&["go", "good"]), Ok(vec!["good", "go"]));
        assert_eq!(
            names(&["nonsense"]),
            Err("there is no step `nonsense`; the steps are: good, bad, go".into())
        );
    }
}
