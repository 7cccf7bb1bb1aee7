//! Findings and stores that another person has made: nothing that they name runs, nothing outside of
//! them is written, nothing blocks, and what they say cannot act on a terminal.

mod files;
mod hostile;
mod mutate;
mod mutations;

use std::fs;
use std::path::{Path, PathBuf};

use files::FILES;
use hostile::Machine;
use serde_json::{Value, json};
use strait_campaign::{Request, begin};
use strait_findings::Store;
use strait_toolchain::End;

/// How long a command may take that refuses something.
const AT_ONCE: std::time::Duration = std::time::Duration::from_secs(1);

/// What is sent, the folder that the user is in, the command, and what it says.
struct Row {
    name: &'static str,
    prepare: fn(&Machine),
    /// `DIR` is the finding of this name.
    finding: &'static str,
    here: Here,
    command: &'static [&'static str],
    code: i32,
    says: &'static str,
}

#[derive(Clone, Copy)]
enum Here {
    /// A folder of the user's.
    Own,
    /// The finding's directory.
    Finding,
    /// The folder that was sent.
    Sent,
}

fn oracle(machine: &Machine, oracle: &str) {
    machine.change("types", |finding| finding["details"]["types"]["oracle_b"] = oracle.into());
}

/// A campaign that asks a compiler of somebody else's.
fn begin_types(machine: &Machine, store: &mut Store) {
    let evil = machine.path("evil/rustc").display().to_string();
    let settings = strait_typefuzz::Settings::new(None, vec!["core".to_owned()], vec![evil])
        .expect("settings");
    let request = Request { settings, count: Some(10), ..Request::default() };
    begin(store, &machine.path("sent"), request, 1).expect("a campaign");
}

/// A Go module with a test, in this folder.
fn module(folder: &Path) {
    fs::write(folder.join("go.mod"), "module example.com/m\n").expect("written");
    fs::write(folder.join("m_test.go"), "package m\n").expect("written");
}

fn go(machine: &Machine, change: impl FnOnce(&mut Value)) {
    machine.change("go", |finding| change(&mut finding["details"]));
}

const REPLAY: &[&str] = &["replay", "DIR", "--time", "1s"];
const REDUCE: &[&str] = &["reduce", "DIR", "--time", "1s"];
const HERE: &[&str] = &["replay", ".", "--time", "1s"];
const NOT_NAMED: &str = "strait does not run programs that a finding or a campaign names";
const NO_MODULE: &str = "strait compiles only a module that you choose";

const RUNS: &[Row] = &[
    Row {
        name: "a compiler in the finding",
        prepare: |machine| {
            let program = machine.finding("types").join("source/rustc");
            fs::copy(machine.path("evil/rustc"), program).expect("copied");
            oracle(machine, "./source/rustc");
        },
        finding: "types",
        here: Here::Finding,
        command: HERE,
        code: 2,
        says: NOT_NAMED,
    },
    Row {
        name: "a compiler elsewhere",
        prepare: |machine| oracle(machine, machine.path("evil/rustc").to_str().expect("plain")),
        finding: "types",
        here: Here::Own,
        command: REDUCE,
        code: 2,
        says: NOT_NAMED,
    },
    Row {
        name: "a compiler by a name that is not known",
        prepare: |machine| oracle(machine, "evil"),
        finding: "types",
        here: Here::Own,
        command: REPLAY,
        code: 2,
        says: NOT_NAMED,
    },
    Row {
        name: "a toolchain file beside a finding with a compiler of the user's",
        prepare: |machine| {
            let file = machine.finding("types").join("rust-toolchain.toml");
            fs::write(file, "[toolchain]\npath = \"./evil\"\n").expect("written");
        },
        finding: "types",
        here: Here::Finding,
        command: HERE,
        code: 0,
        says: "judged by rustc 1.95.0",
    },
    Row {
        name: "settings in the finding",
        prepare: |machine| {
            oracle(machine, machine.path("evil/rustc").to_str().expect("plain"));
            let file = machine.finding("types").join("strait.toml");
            fs::write(file, "[replay]\ntrust = true\n").expect("written");
        },
        finding: "types",
        here: Here::Finding,
        command: HERE,
        code: 2,
        says: NOT_NAMED,
    },
    Row {
        name: "settings above the finding",
        prepare: |machine| {
            oracle(machine, machine.path("evil/rustc").to_str().expect("plain"));
            fs::write(machine.path("sent/strait.toml"), "[replay]\ntrust = true\n")
                .expect("written");
        },
        finding: "types",
        here: Here::Finding,
        command: HERE,
        code: 2,
        says: "`trust` counts only on the command line",
    },
    Row {
        name: "a campaign that is resumed",
        prepare: |machine| {
            let mut store = Store::open(machine.path("sent")).expect("a store");
            begin_types(machine, &mut store);
            store.close().expect("it closes");
        },
        finding: "types",
        here: Here::Sent,
        command: &["types", "--resume", "--out", "."],
        code: 2,
        says: NOT_NAMED,
    },
    Row {
        name: "settings beside a campaign that is resumed",
        prepare: |machine| {
            let mut store = Store::open(machine.path("sent")).expect("a store");
            begin_types(machine, &mut store);
            store.close().expect("it closes");
            let evil = machine.path("evil/rustc");
            let settings = format!("[types]\noracle = [{evil:?}]\n");
            fs::write(machine.path("sent/strait.toml"), settings).expect("written");
        },
        finding: "types",
        here: Here::Sent,
        command: &["types", "--resume", "--out", "."],
        code: 2,
        says: "`oracle` counts only on the command line if a campaign is resumed",
    },
    Row {
        name: "settings that resume a campaign",
        prepare: |machine| {
            let jar = machine.path("evil/flix.jar");
            let settings = format!("[fuzz]\nresume = true\nflix-jar = {jar:?}\n");
            fs::write(machine.path("sent/strait.toml"), settings).expect("written");
        },
        finding: "fuzz",
        here: Here::Sent,
        command: &["fuzz", "--out", "."],
        code: 2,
        says: "`flix-jar` counts only on the command line if a campaign is resumed",
    },
    Row {
        name: "settings that write elsewhere",
        prepare: |machine| {
            let own = machine.path("own");
            let settings = format!("[merge]\nout = {own:?}\n");
            fs::write(machine.path("sent/strait.toml"), settings).expect("written");
        },
        finding: "fuzz",
        here: Here::Sent,
        command: &["merge", "."],
        code: 2,
        says: "`out` counts only on the command line",
    },
    Row {
        name: "a module in the finding",
        prepare: |machine| {
            let evil = machine.finding("go").join("evil");
            fs::create_dir(&evil).expect("made");
            module(&evil);
            go(machine, |details| details["directory"] = "evil".into());
        },
        finding: "go",
        here: Here::Finding,
        command: HERE,
        code: 2,
        says: NO_MODULE,
    },
    Row {
        name: "a finding that is a module",
        prepare: |machine| {
            let folder = machine.finding("go");
            module(&folder);
            go(machine, |details| details["directory"] = folder.to_str().expect("plain").into());
        },
        finding: "go",
        here: Here::Finding,
        command: HERE,
        code: 2,
        says: NO_MODULE,
    },
    Row {
        name: "a module around the finding",
        prepare: |machine| module(&machine.path("sent")),
        finding: "go",
        here: Here::Sent,
        command: REPLAY,
        code: 2,
        says: NO_MODULE,
    },
    Row {
        name: "a module elsewhere",
        prepare: |machine| {
            module(&machine.path("evil"));
            let evil = machine.path("evil");
            go(machine, |details| details["directory"] = evil.to_str().expect("plain").into());
        },
        finding: "go",
        here: Here::Own,
        command: REPLAY,
        code: 2,
        says: NO_MODULE,
    },
    Row {
        name: "a package that is a flag",
        prepare: |machine| {
            module(&machine.path("own"));
            go(machine, |details| details["package"] = "-toolexec=./evil".into());
        },
        finding: "go",
        here: Here::Own,
        command: REPLAY,
        code: 2,
        says: "it has no package with an import path",
    },
    Row {
        name: "a version that is a path",
        prepare: |machine| {
            machine.change("fuzz", |finding| {
                finding["target"] = "go".into();
                finding["version"] = "1/../../evil/rustc".into();
            });
        },
        finding: "fuzz",
        here: Here::Own,
        command: REPLAY,
        code: 2,
        says: "is not a version",
    },
    Row {
        name: "a version that is a part of a build file",
        prepare: |machine| {
            machine.change("fuzz", |finding| {
                finding["target"] = "core-async".into();
                finding["version"] = "1</version><build><plugins>".into();
            });
        },
        finding: "fuzz",
        here: Here::Own,
        command: REDUCE,
        code: 2,
        says: "is not a version",
    },
];

fn check(row: &Row) {
    let machine = Machine::new();
    let finding = match row.finding {
        "" => PathBuf::new(),
        name => machine.finding(name),
    };
    (row.prepare)(&machine);
    let here = match row.here {
        Here::Own => machine.path("own"),
        Here::Finding => finding.clone(),
        Here::Sent => machine.path("sent"),
    };
    let directory = finding.to_str().expect("a plain path");
    let words = row.command.iter().map(|word| if *word == "DIR" { directory } else { word });
    let command: Vec<&str> = words.collect();
    let before = machine.outside();
    let finished = machine.strait(&here, &command);
    let said = format!("{}{}", finished.stdout.text(), finished.stderr.text());
    let name = row.name;
    assert_eq!(finished.end, End::Exited(row.code), "{name}: {said}");
    assert!(said.contains(row.says), "{name}: {said}");
    assert_eq!(machine.ran(), "", "{name}: {said}");
    assert!(before == machine.outside(), "{name}: something outside has changed");
    assert!(!said.contains("secret\n"), "{name}: {said}");
    // On a machine with much else to do, once more.
    if finished.wall > AT_ONCE * 2 {
        let again = machine.strait(&here, &command).wall;
        assert!(again < AT_ONCE * 2, "{name} takes {again:?}");
    }
}

#[test]
fn nothing_that_a_finding_names_runs() {
    RUNS.iter().for_each(check);
}

#[test]
fn only_regular_files_are_read_and_nothing_is_written_elsewhere() {
    FILES.iter().for_each(check);
}

#[test]
fn what_the_user_names_runs() {
    let machine = Machine::new();
    let finding = machine.finding("types");
    oracle(&machine, machine.path("evil/rustc").to_str().expect("plain"));
    let directory = finding.to_str().expect("a plain path");
    machine.script("own/rustc", "case \"$1\" in --version) echo 'rustc 1.96.0';; esac");
    let own = machine.path("own/rustc");
    let own = own.to_str().expect("a plain path");
    let finished = machine.strait(&machine.path("own"), &["replay", directory, "--oracle", own]);
    let said = finished.stderr.text();
    assert_eq!(finished.end, End::Exited(0), "{said}");
    assert!(said.contains("1.96.0; found with 1.0.0"), "{said}");
    assert_eq!(machine.ran(), "");
    machine.strait(&machine.path("own"), &["replay", directory, "--trust"]);
    assert_eq!(machine.ran(), "evil/rustc\n");
}

#[test]
fn the_module_that_the_user_names_is_compiled() {
    let machine = Machine::new();
    let finding = machine.finding("go");
    let directory = finding.to_str().expect("a plain path");
    module(&machine.path("own"));
    let own = machine.path("own");
    // The stand-in for `go` says nothing that strait understands, but it runs, and where.
    machine.script("bin/go", &format!("pwd >> {}", machine.path("ran").display()));
    for (here, arguments) in [
        (&own, vec!["replay", directory]),
        (&finding, vec!["replay", ".", "--module", own.to_str().expect("a plain path")]),
    ] {
        let finished = machine.strait(here, &arguments);
        assert_eq!(finished.end, End::Exited(2), "{}", finished.stderr.text());
        let ran = machine.ran();
        let inside = ran.lines().next().map(|line| Path::new(line).canonicalize());
        let expected = own.canonicalize().expect("there");
        assert_eq!(inside.expect("go ran").expect("a folder"), expected, "{arguments:?}");
        fs::remove_file(machine.path("ran")).expect("removed");
    }
}

#[test]
fn an_index_leads_nowhere_else() {
    let machine = Machine::new();
    let finding = machine.finding("fuzz");
    let mut store = Store::open(machine.path("sent")).expect("a store");
    let campaign = store.campaign(2, 1, "{}").expect("a campaign");
    store.commit(&strait_findings::Batch::new(campaign, "toy", "1", 0..1)).expect("it fits");
    store.close().expect("it closes");
    // The id is changed in the index and in the directory, without changing the length of the file.
    let id = finding.file_name().expect("a name").to_str().expect("plain").to_owned();
    let hostile = format!("../../own/{}", "x".repeat(id.len() - 10));
    for file in [machine.path("sent/index.sqlite"), finding.join("finding.json")] {
        let mut bytes = fs::read(&file).expect("there");
        let places: Vec<usize> = (0..bytes.len() - id.len())
            .filter(|place| bytes[*place..].starts_with(id.as_bytes()))
            .collect();
        assert!(!places.is_empty(), "{}", file.display());
        for place in places {
            bytes[place..place + id.len()].copy_from_slice(hostile.as_bytes());
        }
        fs::write(file, bytes).expect("written");
    }
    let place = machine.path(&format!("own/{}", "x".repeat(id.len() - 10)));
    fs::rename(&finding, &place).expect("moved");
    let before = machine.outside();
    for command in [&["merge", ".", "--out", "merged"][..], &["report", "."]] {
        let finished = machine.strait(&machine.path("sent"), command);
        assert!(matches!(finished.end, End::Exited(0..=2)), "{:?}", finished.end);
        let merged = machine.path("sent/merged/findings");
        let copied = fs::read_dir(merged).map_or(0, |entries| entries.flatten().count());
        assert_eq!(copied, 0, "{}", finished.stderr.text());
        assert!(before == machine.outside(), "{command:?}: something outside has changed");
    }
}

#[test]
fn a_store_with_a_damaged_index_is_resumed() {
    let machine = Machine::new();
    let own = machine.path("own");
    let fuzz = |arguments: &[&str]| {
        let always = ["--json", "fuzz", "--jobs", "1", "--out", "campaign"];
        let finished = machine.strait(&own, &[&always[..], arguments].concat());
        let document: Value = serde_json::from_str(&finished.stdout.text()).expect("a document");
        (document, finished.stderr.text())
    };
    let (begun, _) = fuzz(&["reference", "--count", "30", "--seed", "5"]);
    assert_eq!(begun["programs"], 30, "{begun:#}");
    let index = own.join("campaign/index.sqlite");
    fs::write(&index, "x".repeat(10_000)).expect("written");
    let (resumed, said) = fuzz(&["--resume", "--count", "50"]);
    assert_eq!((&resumed["programs"], &resumed["seed"]), (&json!(50), &json!(5)), "{resumed:#}");
    assert!(said.contains("the journal says what was executed"), "{said}");
    assert!(own.join("campaign/index.damaged-1.sqlite").is_file());
    // A journal of SQLite's beside the index can name any file to be removed; it is not used.
    let journal = own.join("campaign/index.sqlite-journal");
    fs::write(&journal, "x".repeat(1000)).expect("written");
    let (resumed, said) = fuzz(&["--resume", "--count", "60"]);
    assert_eq!(resumed["programs"], 60, "{said}");
    assert!(!journal.exists() && own.join("campaign/index.damaged-2.sqlite-journal").is_file());
}

#[test]
fn nothing_that_is_printed_acts_on_a_terminal() {
    const HOSTILE: &str = "\x1b[2J\x1b]0;title\x07\u{9b}31m\u{202e}\r\x08 end";
    let machine = Machine::new();
    for name in hostile::FINDINGS {
        machine.change(name, |finding| {
            finding["title"] = HOSTILE.into();
            finding["explanation"] = HOSTILE.into();
            finding["version"] = HOSTILE.into();
        });
    }
    machine.change("fuzz", |finding| finding["target"] = HOSTILE.into());
    oracle(&machine, HOSTILE);
    let mut seen = 0;
    for name in hostile::FINDINGS {
        let finding = machine.finding(name);
        let directory = finding.to_str().expect("a plain path");
        for color in ["never", "always"] {
            for extra in
                [&["replay"][..], &["reduce"], &["--json", "replay"], &["replay", "--trust"]]
            {
                let command = [&["--color", color], extra, &[directory]].concat();
                let finished = machine.strait(&machine.path("own"), &command);
                let said = format!("{}{}", finished.stdout.text(), finished.stderr.text());
                let is_harmless = |char: char| !strait_findings::is_deceptive(char);
                assert!(said.chars().all(is_harmless), "{command:?}: {said:?}");
                seen += usize::from(said.contains("\\u{1b}[2J"));
            }
        }
    }
    assert!(seen > 5, "the hostile text was shown {seen} times");
}
