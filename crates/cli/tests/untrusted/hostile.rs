//! A user's machine in a folder, and findings that another person has sent: whatever runs, is compiled or is
//! written although it should not be leaves a trace here.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use strait_findings::{Batch, Discovery, Kind, Store};
use strait_fuzz::TargetFinder;
use strait_toolchain::{Finished, Launcher, Spec, run};

pub const STRAIT: &str = env!("CARGO_BIN_EXE_strait");
/// Nothing that is tested here takes longer, unless it hangs.
const HANGS: Duration = Duration::from_secs(30);

/// The machine: `bin` is its PATH, `sent` what came from another person, `own` what is the user's.
pub struct Machine {
    top: tempfile::TempDir,
}

/// What was sent: the names of its findings.
pub const FINDINGS: [&str; 3] = ["fuzz", "types", "go"];

impl Machine {
    pub fn new() -> Machine {
        let machine = Machine { top: tempfile::tempdir().expect("a folder") };
        for folder in ["bin", "own", "home", "tmp", "cache", "evil"] {
            fs::create_dir(machine.path(folder)).expect("made");
        }
        fs::write(machine.path("own/secret"), "secret").expect("written");
        // The compiler of the user rejects everything; like rustup's, it runs what a file in the
        // current folder names.
        let ran = machine.path("ran");
        let rustc = format!(
            "if test -e rust-toolchain.toml; then echo toolchain >> {0}; fi\n\
             case \"$1\" in --version) echo 'rustc 1.95.0';; --print) echo /nowhere;; esac",
            ran.display()
        );
        machine.script("bin/rustc", &rustc);
        for name in ["bin/go", "bin/cargo", "bin/mvn", "bin/java", "evil/rustc"] {
            machine.script(name, &format!("echo {name} >> {}", ran.display()));
        }
        machine.send("sent");
        machine
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    /// The directory of a finding that was sent.
    pub fn finding(&self, name: &str) -> PathBuf {
        let folders = fs::read_dir(self.path("sent/findings")).expect("a store").flatten();
        let mut folders = folders.map(|entry| entry.path());
        let is_it = |path: &PathBuf| path.to_string_lossy().contains(&format!("-is-{name}-"));
        folders.find(is_it).expect("a finding of this name")
    }

    pub fn script(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    }

    /// A store with one finding of each kind, each harmless.
    pub fn send(&self, folder: &str) {
        let mut store = Store::open(self.path(folder)).expect("a store");
        let campaign = store.campaign(1, 1, "{}").expect("a campaign");
        let mut batch = Batch::new(campaign, "toy", "1.0.0", 0..100);
        for name in FINDINGS {
            let mut found = Discovery::new(Kind::CRASH, format!("is-{name}"), "1.0.0", 1, 1);
            found.title = format!("the title of {name}");
            found.fingerprint = name.to_owned();
            found.output = b"some output".to_vec();
            fill(name, &mut found);
            batch = batch.found(found);
        }
        store.commit(&batch).expect("it fits");
        store.close().expect("it closes");
        for entry in fs::read_dir(self.path(folder).join("findings")).expect("a store").flatten() {
            rename_target(&entry.path().join("finding.json"));
        }
    }

    /// Changes `finding.json`.
    pub fn change(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let path = self.finding(name).join("finding.json");
        let text = fs::read_to_string(&path).expect("there");
        let mut value = serde_json::from_str(&text).expect("JSON");
        change(&mut value);
        fs::write(path, value.to_string()).expect("written");
    }

    /// Runs strait in a folder.
    pub fn strait(&self, here: &Path, arguments: &[&str]) -> Finished {
        let spec = Spec::new(STRAIT)
            .arguments(arguments)
            .directory(here)
            .variable("PATH", self.path("bin"))
            .variable("HOME", self.path("home"))
            .variable("STRAIT_CACHE", self.path("cache"))
            .variable("TMPDIR", self.path("tmp"))
            .without_variable("CARGO")
            .wall(HANGS);
        run(&Launcher::of(STRAIT), &spec).expect("strait starts")
    }

    /// What ran without permission.
    pub fn ran(&self) -> String {
        fs::read_to_string(self.path("ran")).unwrap_or_default()
    }

    /// Everything outside of what was sent that must stay as it is: paths and contents.
    pub fn outside(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut waiting =
            ["bin", "own", "home", "tmp", "evil"].map(|name| self.path(name)).to_vec();
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(&folder).expect("a folder").flatten() {
                let kind = entry.file_type().expect("a kind");
                if kind.is_dir() {
                    found.insert(entry.path(), Vec::new());
                    waiting.push(entry.path());
                } else if kind.is_file() {
                    found.insert(entry.path(), fs::read(entry.path()).expect("readable"));
                }
            }
        }
        let names = fs::read_dir(self.top.path()).expect("a folder").flatten();
        found.extend(names.map(|entry| (entry.path(), Vec::new())));
        found.retain(|path, _| !is_strait_folder(&self.path("tmp"), path));
        found
    }
}

/// The folder of Strait's own, with the file that says whose it is.
fn is_strait_folder(tmp: &Path, path: &Path) -> bool {
    let Ok(inner) = path.strip_prefix(tmp) else { return false };
    let parts: Vec<String> = inner.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    match parts.as_slice() {
        [ours] => ours.starts_with("strait-"),
        [ours, tag] => ours.starts_with("strait-") && tag == "STRAIT-TEMPORARY-FILES",
        _ => false,
    }
}

fn fill(name: &str, found: &mut Discovery) {
    let mut detail = |key: &str, value: Value| drop(found.details.insert(key.to_owned(), value));
    match name {
        "fuzz" => {
            let run = json!({
                "flavour": "threads", "payload": "counted", "perturbation": "light",
                "repetitions": 2, "seed": 1, "style": "batched",
            });
            detail("run", run);
            found.program = Some("main { chan c: int[1]; put c 1; get c }".to_owned());
        }
        "types" => {
            let types = json!({
                "mode": "precision", "features": ["core"], "oracles": ["rustc"],
                "oracle_a": "rules", "oracle_b": "rustc", "rewrite": null, "violations": [],
            });
            detail("types", types);
            found.sources = vec![("program.rs".to_owned(), "pub fn f() {}".to_owned())];
        }
        _ => {
            let details = [("language", "go"), ("test", "TestX"), ("package", "example.com/m")];
            details.into_iter().for_each(|(key, value)| detail(key, value.into()));
            detail("directory", "/nowhere".into());
            let order = json!([]);
            found.schedule = Some(json!({ "seed": 1, "rate": 0, "patience": 1, "order": order }));
        }
    }
}

/// Gives the finding of `strait fuzz` a target that is built in; until then its name says which one
/// it is.
fn rename_target(path: &Path) {
    let text = fs::read_to_string(path).expect("there");
    let mut value: Value = serde_json::from_str(&text).expect("JSON");
    if value["target"] == "is-fuzz" {
        let targets = TargetFinder::all();
        let target = targets.iter().find(|target| target.target == "std").expect("a target");
        value["target"] = target.target.clone().into();
        value["version"] = target.version.clone().into();
    }
    fs::write(path, value.to_string()).expect("written");
}
