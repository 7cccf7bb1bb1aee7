//! What `strait emit` and `strait fixed` make of the findings in the kernels: how many become tests that fail in
//! at least 95 % of their runs without Strait, and whether a finding is still there in its kernel and gone in the
//! repaired twin. The commands are those of a `strait` binary, as a user runs them.

use std::path::{Path, PathBuf};

use serde_json::Value;
use strait_toolchain::{End, Launcher, Spec, run};

use crate::campaign::Outcome;

/// Runs per test to find the bugs.
const RUNS: &str = "120";

/// The findings of a campaign over the kernels.
struct Kernels {
    strait: String,
    _folder: tempfile::TempDir,
    module: PathBuf,
    /// The test and the directory of each finding.
    findings: Vec<(String, String)>,
}

impl Kernels {
    /// Every `step`th finding.
    fn find(strait: &str, kernels: &Path, step: usize) -> Outcome<Kernels> {
        let folder = tempfile::tempdir()?;
        let module = folder.path().join("kernels");
        for package in ["bug", "fixed"] {
            copy(&kernels.join(package), &module.join(package), None)?;
        }
        std::fs::copy(kernels.join("go.mod"), module.join("go.mod"))?;
        let mut found =
            Kernels { strait: strait.to_owned(), _folder: folder, module, findings: Vec::new() };
        let arguments =
            ["go", "fuzz", "./bug/...", "--runs", RUNS, "--seed", "1", "--out", "../out"];
        let (_, document) = found.strait(&arguments)?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let all = document["findings"].as_array().cloned().unwrap_or_default();
        for finding in all.iter().step_by(step.max(1)) {
            let place = found.module.join(text(&finding["dir"])).canonicalize()?;
            found.findings.push((text(&finding["test"]), place.display().to_string()));
        }
        println!("{} findings, {} of them measured", all.len(), found.findings.len());
        Ok(found)
    }

    /// Exit code and JSON document of a command in the module.
    fn strait(&self, arguments: &[&str]) -> Outcome<(i32, Value)> {
        let arguments = [arguments, &["--json"]].concat();
        let spec = Spec::new(&self.strait).arguments(arguments).directory(&self.module);
        let finished = run(&Launcher::this_program()?, &spec.keep(64 << 20))?;
        let said = finished.stderr.last_lines(3);
        match finished.end {
            End::Exited(2) => Ok((2, Value::String(said))),
            End::Exited(code) => Ok((code, serde_json::from_str(&finished.stdout.text())?)),
            end => Err(format!("strait ended: {end}: {said}").into()),
        }
    }
}

/// Copies the files of a package, and gives it another name.
fn copy(from: &Path, to: &Path, rename: Option<(&str, &str)>) -> Outcome<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let mut text = std::fs::read_to_string(entry.path())?;
        if let Some((before, after)) = rename {
            text = text.replace(&format!("package {before}\n"), &format!("package {after}\n"));
        }
        std::fs::write(to.join(entry.file_name()), text)?;
    }
    Ok(())
}

/// Emits each finding and prints those whose tests fail less often than in 95 % of their runs.
pub fn emit(strait: &str, kernels: &Path, step: usize) -> Outcome<()> {
    let found = Kernels::find(strait, kernels, step)?;
    let mut reliable = 0;
    for (test, place) in &found.findings {
        match found.strait(&["emit", place, "--module", "."])? {
            (0, _) => reliable += 1,
            (1, document) => {
                println!("  {test}: {} of {} runs", document["failed"], document["runs"])
            }
            (_, said) => println!("  {test}: nothing emitted: {said}"),
        }
    }
    let all = found.findings.len();
    println!("{reliable} of {all} emitted tests fail in at least 95 % of their runs");
    Ok(())
}

/// Judges each finding in its kernel, and in a module whose kernels are the repaired twins.
pub fn fixed(strait: &str, kernels: &Path, step: usize) -> Outcome<()> {
    let found = Kernels::find(strait, kernels, step)?;
    for (package, expected) in [("bug", "still-there"), ("fixed", "gone")] {
        copy(&kernels.join(package), &found.module.join("bug"), Some((package, "bug")))?;
        let mut right = 0;
        for (test, place) in &found.findings {
            let (_, document) = found.strait(&["fixed", place, "--module", "."])?;
            match document["fate"].as_str() {
                Some(fate) if fate == expected => right += 1,
                Some(fate) => println!("  {package}: {test}: {fate}"),
                None => println!("  {package}: {test}: {document}"),
            }
        }
        println!("{package}: {right} of {} findings are {expected}", found.findings.len());
    }
    Ok(())
}
