//! `strait go verify` on the Go programs of the corpus: those of Lange et al., ICSE 2018, have the
//! verdicts of its evaluation, every other one those that its header promises.
#![allow(clippy::print_stderr, reason = "what was not tested is said aloud")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use strait_toolchain::{Launcher, Spec, run};

const STRAIT: &str = env!("CARGO_BIN_EXE_strait");

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/go")
}

/// What `strait go verify` says, by package and entry; nothing, loudly, without go.
fn verified(arguments: &[&str]) -> Option<(bool, Value)> {
    verified_in(&corpus(), arguments)
}

fn verified_in(folder: &Path, arguments: &[&str]) -> Option<(bool, Value)> {
    let launcher = Launcher::of(STRAIT);
    let spec = Spec::new(STRAIT)
        .arguments(["--json", "go", "verify"].iter().chain(arguments))
        .directory(folder)
        .keep(256 << 20);
    let finished = run(&launcher, &spec).expect("strait starts");
    let complaint = finished.stderr.text();
    if complaint.contains("go was not found") || complaint.contains("no go ") {
        assert!(std::env::var_os("CI").is_none(), "SKIPPED, which CI needs: {complaint}");
        eprintln!("SKIPPED strait go verify: {complaint}");
        return None;
    }
    let document = serde_json::from_str(&finished.stdout.text());
    let document = document.unwrap_or_else(|error| panic!("{error}: {complaint}"));
    Some((finished.end.is_success(), document))
}

/// `Some(None)`: the verdict is not known.
type Verdicts = BTreeMap<String, Option<bool>>;

fn verdicts(document: &Value) -> BTreeMap<String, Verdicts> {
    let entries = document["entries"].as_array().expect("entries");
    let verdicts = entries.iter().map(|entry| {
        let name = entry["entry"].as_str().expect("a name");
        let name = name.rsplit('/').next().unwrap_or(name).to_owned();
        let properties = entry["properties"].as_object().expect("properties");
        let holds = properties.iter().map(|(name, one)| (name.clone(), one["holds"].as_bool()));
        (name, holds.collect())
    });
    verdicts.collect()
}

const YES: Option<bool> = Some(true);
const NO: Option<bool> = Some(false);

/// The programs of the paper (Lange et al., ICSE 2018, section 6) that its prose tells the verdicts
/// of: no global deadlock, which there includes goroutines that outlive `main`, liveness, channel safety, eventual reception. A liveness that is not known is what its
/// termination check is there for.
const PAPER: [(&str, [Option<bool>; 4]); 17] = [
    ("sieve", [None, None, None, None]),
    ("fib", [YES, YES, YES, YES]),
    ("fan-in", [YES, YES, YES, YES]),
    ("philosophers", [YES, YES, YES, YES]),
    ("philosophers-deadlock", [NO, NO, YES, YES]),
    ("philosophers-5", [NO, NO, YES, YES]),
    ("philosophers-5-ordered", [YES, YES, YES, YES]),
    ("mismatch", [NO, NO, YES, YES]),
    ("mismatch-fixed", [YES, YES, YES, YES]),
    ("job-scheduler", [YES, YES, YES, YES]),
    ("conditional-receive", [NO, NO, YES, YES]),
    ("concurrent-system", [NO, NO, YES, YES]),
    ("alternating-bit", [YES, YES, YES, YES]),
    ("producer-consumer", [YES, NO, YES, YES]),
    ("loop-without-end", [YES, None, YES, YES]),
    ("double-close", [YES, YES, NO, YES]),
    ("lost-message", [YES, YES, YES, NO]),
];

#[test]
fn the_programs_of_the_paper_have_its_verdicts() {
    let packages: Vec<String> = PAPER.iter().map(|(name, _)| format!("./{name}")).collect();
    let mut arguments: Vec<&str> = packages.iter().map(String::as_str).collect();
    // The sieve has states without end.
    arguments.extend(["--states", "3000"]);
    let Some((clean, document)) = verified(&arguments) else { return };
    assert!(!clean, "violations are exit code 1");
    let found = verdicts(&document);
    let names = ["no-deadlock", "live", "channel-safe", "eventual-reception"];
    for (program, expected) in PAPER {
        let verdicts = &found[&format!("{program}.main")];
        let mut seen = names.map(|name| verdicts[name]);
        if seen[0] == YES {
            seen[0] = verdicts["no-leak"];
        }
        // 3,000 states are few: five philosophers need more for a proof.
        if program.starts_with("philosophers-5") && seen.contains(&None) {
            continue;
        }
        assert_eq!(seen, expected, "{program}");
    }
}

#[test]
fn every_program_has_the_verdict_that_its_header_promises() {
    let limits = ["--states", "20000", "--time", "5s", "--extraction-time", "5m", "./..."];
    let Some((_, document)) = verified(&limits) else {
        return;
    };
    let found = verdicts(&document);
    let mut programs = 0;
    for folder in std::fs::read_dir(corpus()).expect("the corpus") {
        let folder = folder.expect("a folder").path();
        let files = ["main.go", "main_test.go"].map(|file| folder.join(file));
        let Some(file) = files.into_iter().find(|file| file.is_file()) else { continue };
        let text = std::fs::read_to_string(&file).expect("a text");
        let package = folder.file_name().expect("a name").to_string_lossy().into_owned();
        for line in text.lines().filter_map(|line| line.strip_prefix("// verdict: ")) {
            let (entry, verdict) = line.split_once(' ').unwrap_or(("main", line));
            check(&format!("{package}.{entry}"), verdict.trim(), &found, &text);
            programs += 1;
        }
    }
    assert!(programs >= 40, "{programs}");
}

fn check(name: &str, verdict: &str, found: &BTreeMap<String, Verdicts>, text: &str) {
    let verdicts = found.get(name).unwrap_or_else(|| panic!("{name} is missing"));
    let is = |property: &str| verdicts[property];
    let faults = ["channel-safe", "mutex-safe", "waitgroup-safe"];
    let loops = text.contains("// live: null");
    match verdict {
        "terminates" | "diverges" => {
            assert!(
                is("no-deadlock") == YES && (is("live") == YES || loops),
                "{name}: {verdicts:?}"
            );
            let kept = text.contains("// locks-released: false");
            assert!(
                is("no-leak") == YES && (is("locks-released") == YES || kept),
                "{name}: {verdicts:?}"
            );
            assert!(faults.iter().all(|fault| is(fault) != NO), "{name}: {verdicts:?}");
        }
        "deadlock" => assert!(is("no-deadlock") == NO && is("live") == NO, "{name}: {verdicts:?}"),
        "leak" => assert!(is("live") == NO, "{name}: {verdicts:?}"),
        "panic" => {
            let deliberate = text.contains("panic(");
            assert!(
                deliberate || faults.iter().any(|fault| is(fault) == NO),
                "{name}: {verdicts:?}"
            );
        }
        "unknown" => assert!(verdicts.values().any(Option::is_none), "{name}: {verdicts:?}"),
        other => panic!("{name}: what is {other}?"),
    }
    if text.contains("// locks-released: false") {
        assert_eq!(is("locks-released"), NO, "{name}");
    }
    if let Some(live) = text.lines().find_map(|line| line.strip_prefix("// live: ")) {
        let expected = match live.trim() {
            "true" => YES,
            "false" => NO,
            _ => None,
        };
        assert_eq!(is("live"), expected, "{name}");
    }
}

#[test]
fn violations_have_traces_in_go_lines() {
    let Some((_, document)) = verified(&["./producer-consumer", "--property", "live"]) else {
        return;
    };
    let live = &document["entries"][0]["properties"]["live"];
    let positions: Vec<&str> = live["trace"]
        .as_array()
        .expect("a trace")
        .iter()
        .filter_map(|step| step["position"].as_str())
        .collect();
    assert!(!positions.is_empty(), "{live}");
    for position in positions {
        let (file, line) = position.rsplit_once(':').expect("file:line");
        let text = std::fs::read_to_string(corpus().join(file)).expect("the file is there");
        let line: usize = line.parse().expect("a line");
        let line = text.lines().nth(line - 1).expect("the line is there");
        assert!(
            ["<-", "go ", "select", "close", "case"].iter().any(|word| line.contains(word)),
            "{line}"
        );
    }
}

#[test]
fn shares_of_the_entries_are_all_entries() {
    let packages = ["./mismatch", "./fan-in", "./double-close", "./lost-message"];
    let Some((_, whole)) = verified(&packages) else { return };
    let mut together = BTreeMap::new();
    for share in ["0/3", "1/3", "2/3"] {
        let arguments: Vec<&str> = packages.into_iter().chain(["--shard", share]).collect();
        let (_, part) = verified(&arguments).expect("go is there");
        for (entry, verdicts) in verdicts(&part) {
            assert!(together.insert(entry, verdicts).is_none(), "an entry in two shares");
        }
    }
    assert_eq!(together, verdicts(&whole));
    assert_eq!(together.len(), packages.len());
}

/// What the schema of SARIF 2.1.0 demands, and what code hosts need to show a result at its line.
#[test]
fn violations_are_written_as_sarif() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("found.sarif");
    let path = file.to_str().expect("a path in Unicode");
    // Five philosophers wait at the same line.
    let programs = ["./philosophers-5", "./double-close", "./lost-message"];
    let arguments = ["--property", "all", "--sarif", path];
    let Some((_, told)) = verified(&[&programs[..], &arguments].concat()) else { return };
    let text = std::fs::read_to_string(&file).expect("the file is there");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    assert_eq!(document["version"], "2.1.0");
    let run = &document["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "strait");
    let rules = list(&run["tool"]["driver"]["rules"]);
    let results = list(&run["results"]);
    // One result per finding: that five philosophers deadlock breaks two properties.
    assert_eq!(results.len(), 3, "{run}");
    assert_eq!(results.len(), list(&told["findings"]).len());
    for rule in &rules {
        let texts = ["/shortDescription/text", "/help/text", "/helpUri"];
        assert!(
            texts.iter().all(|text| rule.pointer(text).is_some_and(Value::is_string)),
            "{rule}"
        );
    }
    for result in results {
        assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]), "{result}");
        assert!(result["message"]["text"].is_string(), "{result}");
        assert_eq!(list(&result["locations"]).len(), 1, "{result}");
        let related = list(&result["relatedLocations"]);
        for (at, place) in related.iter().enumerate() {
            assert!(!related[..at].contains(place) && *place != result["locations"][0], "{result}");
        }
        let flow = list(&result["codeFlows"][0]["threadFlows"][0]["locations"]);
        assert!(!flow.is_empty(), "{result}");
        for location in list(&result["locations"]).iter().chain(&related) {
            let place = &location["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().expect("a file");
            assert!(corpus().join(uri).is_file(), "{location}");
            assert!(place["region"]["startLine"].as_u64() > Some(0), "{location}");
            assert!(place["contextRegion"]["snippet"]["text"].is_string(), "{location}");
        }
    }
}

#[test]
fn violations_are_confirmed_by_runs() {
    let arguments = ["--confirm", "--confirm-runs", "20"];
    let main = ["./double-close", "./lost-message"];
    let Some((_, document)) = verified(&[&arguments[..], &main].concat()) else { return };
    let property =
        |entry: usize, name: &str| document["entries"][entry]["properties"][name].clone();
    let closed = property(0, "channel-safe");
    assert_eq!((&closed["holds"], &closed["confirmed"]), (&false.into(), &true.into()), "{closed}");
    assert!(closed["runs"].as_u64() >= closed["seen"].as_u64(), "{closed}");
    // That a message stays in a buffer cannot be seen from outside, and a proof is not run.
    let stuck = property(1, "eventual-reception");
    assert_eq!((&stuck["holds"], &stuck["confirmed"]), (&false.into(), &Value::Null), "{stuck}");
    assert!(property(0, "live").get("confirmed").is_none());
    let test = ["./features", "--entry", "TestDoneTwice"];
    let Some((_, document)) = verified(&[&arguments[..], &test].concat()) else { return };
    let done = &document["entries"][0]["properties"]["waitgroup-safe"];
    assert_eq!(done["confirmed"], true, "{done}");
}

#[test]
fn models_are_written_for_other_tools() {
    let folder = tempfile::tempdir().expect("a folder");
    let models = folder.path().join("models");
    let path = models.to_str().expect("a path in Unicode");
    let arguments = ["./fan-in", "--property", "live", "--no-reduction", "--models", path];
    let Some((_, document)) = verified(&arguments) else { return };
    let name = document["entries"][0]["entry"].as_str().expect("a name").replace('/', "_");
    let graph = std::fs::read_to_string(models.join(format!("{name}.aut"))).expect("a graph");
    // The program beside it has that graph.
    let again = folder.path().join("again.aut");
    let program = models.join(format!("{name}.strait"));
    let spec = Spec::new(STRAIT).arguments(["explore".as_ref(), program.as_os_str()]);
    let spec = spec.arguments(["--aut".as_ref(), again.as_os_str()]);
    let explored = run(&Launcher::of(STRAIT), &spec).expect("strait starts");
    assert!(again.is_file(), "{}", explored.stderr.text());
    assert_eq!(graph, std::fs::read_to_string(again).expect("the graph again"));
    let [edges, states] = ["transitions", "states"].map(|name| &document["entries"][0][name]);
    assert_eq!(graph.lines().next(), Some(format!("des (0, {edges}, {states})").as_str()));
}

#[test]
fn what_the_model_leaves_out_may_help() {
    let source = "package main\n\nimport \"reflect\"\n\nfunc main() {\n\tc := make(chan int)\n\t\
        go func() { reflect.ValueOf(c).Close() }()\n\t<-c\n}\n";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("main.go"), source).expect("written");
    std::fs::write(folder.path().join("go.mod"), "module example.com/m\n\ngo 1.24\n")
        .expect("written");
    let Some((clean, document)) = verified_in(folder.path(), &[]) else { return };
    let live = &document["entries"][0]["properties"]["live"];
    assert_eq!(live["holds"], Value::Null, "{live}");
    let why = live["why"].as_str().unwrap_or_default();
    assert!(clean && why.contains("waits to receive") && why.contains("is not read"), "{live}");
}

/// A module whose `main` takes a lock twice, in a method that is also an entry.
const TWICE: &str = "package main

import \"sync\"

type store struct{ mu sync.Mutex }

func (s *store) twice() {
	s.mu.Lock()
	s.mu.Lock()
}

func main() {
	var s store
	s.twice()
}
";

fn module(source: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    write("main.go", source);
    write("go.mod", "module example.com/m\n\ngo 1.24\n");
    folder
}

#[test]
fn one_bug_is_one_finding_and_can_be_accepted() {
    let folder = module(TWICE);
    let Some((clean, document)) = verified_in(folder.path(), &[]) else { return };
    let findings = document["findings"].as_array().expect("findings");
    assert!(!clean && findings.len() == 1, "{findings:?}");
    assert_eq!(findings[0]["kind"], "double-lock");
    assert_eq!(findings[0]["properties"], serde_json::json!(["mutex-safe", "no-deadlock", "live"]));
    // A function that is neither main nor a test cannot be run, so it cannot be confirmed.
    let unconfirmed = ["--entry", "twice", "--confirm", "--fail-on", "confirmed"];
    let (clean, document) = verified_in(folder.path(), &unconfirmed).expect("go");
    assert!(clean && document["findings"][0]["confirmed"].is_null(), "{document}");
    let (clean, _) =
        verified_in(folder.path(), &["--baseline", "known", "--write-baseline"]).expect("go");
    assert!(clean, "what was written is known");
    // Lines move, the finding stays the same one; a second one is new.
    let moved = TWICE.replace("type store", "// A store.\n\ntype store");
    std::fs::write(folder.path().join("main.go"), &moved).expect("written");
    let (clean, document) = verified_in(folder.path(), &["--baseline", "known"]).expect("go");
    assert_eq!((clean, &document["summary"]["known"]), (true, &1.into()), "{document}");
    let other = moved.replace("\ts.twice()", "\tc := make(chan int)\n\tc <- 1\n\ts.twice()");
    std::fs::write(folder.path().join("main.go"), other).expect("written");
    assert!(!verified_in(folder.path(), &["--baseline", "known"]).expect("go").0);
    let silenced = TWICE.replace("func (s", "//strait:ignore mutex-safe shows it\nfunc (s");
    std::fs::write(folder.path().join("main.go"), silenced).expect("written");
    let (clean, document) = verified_in(folder.path(), &[]).expect("go");
    assert_eq!((clean, &document["findings"][0]["status"]), (true, &"suppressed".into()));
    assert_eq!(document["findings"][0]["suppression"]["reason"], "shows it");
}

/// A server with two loops, of which one has nothing to receive.
const SERVER: &str = "package main

import \"sync\"

type Server struct {
\tmu   sync.Mutex
\tjobs chan int
}

func (s *Server) loop() {
\ts.mu.Lock()
\tdefer s.mu.Unlock()
\t<-s.jobs
}

func main() {
\ts := &Server{jobs: make(chan int)}
\tgo s.loop()
\tgo s.loop()
\tgo func() { s.jobs <- 1 }()
}
";

#[test]
fn names_are_those_of_the_source() {
    let folder = module(SERVER);
    let Some((_, document)) = verified_in(folder.path(), &["--property", "no-leak"]) else {
        return;
    };
    let message = document["findings"][0]["message"].as_str().expect("a message");
    assert_eq!(
        message,
        "after main has returned, (*Server).loop#2 waits to receive from Server.jobs (main.go:13) \
         forever"
    );
    let text = document["entries"][0]["properties"]["no-leak"]["trace"].to_string();
    for name in ["starts (*Server).loop#2", "starts main.func1", "locks Server.mu"] {
        assert!(text.contains(name), "{name} in {text}");
    }
    let formula = folder.path().join("f.mcf");
    for (names, expected) in [
        ("recv((*Server).loop#1, Server.jobs)", None),
        ("send(main.func1, main.1)", None),
        ("recv((*Server).loop)", Some("ambiguous in example.com/m.main: it may be main.1, main.2")),
        ("recv(Server.job)", Some("the nearest names are Server.jobs")),
    ] {
        std::fs::write(&formula, format!("<true*.{names}>true")).expect("written");
        let spec = Spec::new(STRAIT)
            .arguments(["go", "verify", "--formula", "f.mcf"])
            .directory(folder.path());
        let finished = run(&Launcher::of(STRAIT), &spec).expect("strait starts");
        let said = finished.stderr.text();
        match expected {
            None => assert!(finished.end.is_success(), "{names}: {said}"),
            Some(expected) => assert!(said.contains(expected), "{names}: {said}"),
        }
    }
}

#[test]
fn entries_are_named_as_the_help_promises() {
    let folder = module(TWICE);
    for form in [
        "twice",
        "(*store).twice",
        "example.com/m.(*store).twice",
        "(*example.com/m.store).twice",
        "example.com/m.main",
        "main",
    ] {
        let Some((_, document)) = verified_in(folder.path(), &["--entry", form]) else { return };
        let entries = document["entries"].as_array().map_or(0, Vec::len);
        assert_eq!(entries, 1, "{form}: {document}");
    }
}

#[test]
fn settings_come_from_the_folder_above() {
    let folder = module(TWICE);
    let settings = "[go.verify]\nproperty = [\"channel-safe\"]\n";
    std::fs::write(folder.path().join("strait.toml"), settings).expect("written");
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).expect("a folder");
    let Some((clean, document)) = verified_in(&inner, &["example.com/m"]) else { return };
    let properties = document["entries"][0]["properties"].as_object().expect("properties");
    assert!(clean && properties.keys().eq(["channel-safe"]), "{properties:?}");
}

#[test]
fn what_is_unknown_fails_a_build_when_asked_to() {
    let arguments = ["./sieve", "--states", "300"];
    let Some((clean, document)) = verified(&arguments) else { return };
    assert!(clean, "unknown is no violation");
    assert_eq!(document["summary"]["reasons"], serde_json::json!({ "state-limit": 1 }));
    let (clean, _) = verified(&[&arguments[..], &["--fail-on", "unknown"]].concat()).expect("go");
    assert!(!clean);
}

#[test]
fn an_entry_ends_when_its_time_is_up() {
    let arguments = [
        "./sieve",
        "--time",
        "1s",
        "--extraction-time",
        "5m",
        "--states",
        "1000000000",
        "--no-reduction",
    ];
    let Some((_, document)) = verified(&arguments) else { return };
    let seconds = document["entries"][0]["seconds"].as_f64().expect("seconds");
    assert!(seconds < 3.0, "{seconds}");
    assert_eq!(document["summary"]["reasons"], serde_json::json!({ "time": 1 }));
}

/// What the programs call to record what they see; here nobody looks.
const RECORDER: &str = "package main

type process struct{}

func (p *process) Go(body func(p *process))       { go body(p) }
func (p *process) got(value any)                  {}
func (p *process) observed(value any)             {}
func (p *process) chose(number int)               {}
func (p *process) defaulted()                     {}
func (p *process) timedOut()                      {}
func (p *process) gotOrClosed(value any, ok bool) {}
func main()                                       {}
";

/// Puts generated programs into packages, two hundred in each: a package a program would be read
/// fifty times more slowly. Goes out: by the name of its function, each program's label.
fn batches(generated: &Path, module: &Path) -> BTreeMap<String, Option<String>> {
    let mut labels = BTreeMap::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(generated)
        .expect("programs")
        .map(|file| file.expect("a program").path())
        .collect();
    files.sort();
    for (number, chunk) in files.chunks(200).enumerate() {
        let package = module.join(format!("p{number}"));
        std::fs::create_dir_all(&package).expect("a folder");
        let imports = "package main\n\nimport (\n\t\"fmt\"\n\t\"math/rand\"\n)\n\n\
            var _, _ = fmt.Sprint, rand.Intn\n";
        let mut text = imports.to_owned();
        for file in chunk {
            let name = format!("program{}", labels.len());
            let source = std::fs::read_to_string(file).expect("a program");
            let begin = source.find("func program(p *process) {").expect("a program");
            let end = begin + source[begin..].find("\n}\n").expect("its end") + 3;
            text += &source[begin..end].replacen("func program(", &format!("\nfunc {name}("), 1);
            // `21-3-1-drop-leak`; an original has no label and terminates.
            let stem = file.file_stem().expect("a name").to_string_lossy().into_owned();
            let label = stem.rsplit('-').next().filter(|_| stem.matches('-').count() > 1);
            labels.insert(name, label.map(str::to_owned));
        }
        std::fs::write(package.join("programs.go"), text).expect("written");
        std::fs::write(package.join("recorder.go"), RECORDER).expect("written");
    }
    std::fs::write(module.join("go.mod"), "module example.com/mutants\n\ngo 1.24\n")
        .expect("written");
    labels
}

/// Generated programs and their mutants, written as Go and read back: what is verified agrees with
/// the label that the explorer gave before. `STRAIT_CASES` sets how many are generated.
#[test]
fn mutants_written_as_go_have_the_verdicts_of_their_labels() {
    let cases = std::env::var("STRAIT_CASES").unwrap_or_else(|_| "5".into());
    let folder = tempfile::tempdir().expect("a folder");
    let generated = folder.path().join("generated");
    let launcher = Launcher::of(STRAIT);
    let arguments = ["gen", "--seed", "21", "--count", &cases, "--mutants=3", "--format", "go"];
    let spec = Spec::new(STRAIT)
        .arguments(arguments)
        .arguments(["--allow", "close,buffered", "--out"])
        .arguments([&generated]);
    // Mutants that Go cannot express are left out.
    run(&launcher, &spec).expect("strait starts");
    let module = folder.path().join("module");
    let labels = batches(&generated, &module);
    let asked = ["./...", "--entry", "program*", "--states", "200000"];
    let Some((_, document)) = verified_in(&module, &asked) else { return };
    let (mut agreed, mut unknown, mut wrong) = (0, 0, Vec::new());
    for (entry, verdicts) in verdicts(&document) {
        let label = labels[entry.rsplit('.').next().unwrap_or_default()].as_deref();
        let (live, safe) = (verdicts["live"], verdicts["channel-safe"]);
        let (decided, agrees) = match label {
            Some("panic") => (safe.is_some(), safe == NO),
            Some("deadlock" | "leak") => (live.is_some(), live == NO && safe != NO),
            _ => (live.is_some() && safe.is_some(), live == YES && safe == YES),
        };
        match (decided, agrees) {
            (_, true) => agreed += 1,
            (false, _) => unknown += 1,
            (true, false) => wrong.push(entry),
        }
    }
    eprintln!("{agreed} agree, {unknown} are not decided, wrong are {wrong:?}");
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(agreed >= 10 && unknown * 100 <= agreed, "{agreed} agree, {unknown} are not decided");
}
