//! `kill -9` at random moments of campaigns that are resumed until they are complete: the same indices
//! are executed, each counted once, the same faults are found, no process survives its campaign, and
//! after the next run nothing is left of the temporary files.
//!
//! `STRAIT_KILLS=N` makes it long, as `cargo xtask kill` does; `STRAIT_KILLS_SEED` repeats a run, and
//! `STRAIT_KILLS_TIME` is the number of seconds after which it gives up; `STRAIT_BIN` names another
//! binary.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what was tested is said aloud")]
#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because it must be killed")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use strait_findings::{Ranges, Store};

/// The variable by which processes of a campaign are recognised, whoever has started them.
const MARK: &str = "STRAIT_KILL_MARK";
/// How long processes may take to notice that the campaign was killed, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// How much is done, and for how long at most.
struct Wanted {
    kills: u64,
    time: Duration,
    seed: u64,
}

impl Wanted {
    /// A share of what is wanted in all.
    fn share(percent: u64) -> Wanted {
        let number = |name: &str| {
            std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"))
        };
        let kills = number("STRAIT_KILLS").map_or(4, |all| (all * percent).div_ceil(100));
        let time = Duration::from_secs(number("STRAIT_KILLS_TIME").unwrap_or(3600));
        let seed = number("STRAIT_KILLS_SEED").unwrap_or_else(|| u64::from(std::process::id()));
        println!("STRAIT_KILLS_SEED={seed}");
        Wanted { kills, time, seed }
    }
}

/// Some numbers.
fn dice(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |most| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most.max(1)
    }
}

/// A kind of campaign.
struct Campaign {
    name: &'static str,
    /// Begins it.
    begin: Vec<String>,
    /// Goes on with it.
    resume: Vec<String>,
    /// What the last campaign in a folder has come to.
    results: fn(&Path) -> Results,
    /// Where it runs.
    directory: PathBuf,
    temporary: PathBuf,
}

/// What must be the same with and without kills.
#[derive(Debug, PartialEq, Eq)]
struct Results {
    /// What was executed of each target.
    executed: Vec<(String, Ranges)>,
    programs: u64,
    findings: BTreeSet<String>,
}

fn results(folder: &Path) -> Results {
    let mut store = Store::open(folder).expect("a store");
    let known = store.last_campaign().expect("readable").expect("a campaign");
    let id = store.campaign(known.seed, known.generator_version, &known.settings).expect("known");
    let totals = store.totals(id).expect("readable");
    let executed = totals.iter().map(|total| {
        let executed = store.executed(id, &total.target, &total.version).expect("readable");
        (total.target.clone(), executed)
    });
    Results {
        executed: executed.collect(),
        programs: totals.iter().map(|total| total.programs).sum(),
        findings: store.findings().map(|finding| finding.id.clone()).collect(),
    }
}

impl Campaign {
    fn start(&self, arguments: &[String], out: &Path) -> Running {
        let named = std::env::var_os("STRAIT_BIN");
        let mut command =
            Command::new(named.unwrap_or_else(|| env!("CARGO_BIN_EXE_strait").into()));
        command.args(arguments).arg("--quiet").arg("--out").arg(out);
        command.current_dir(&self.directory).env("TMPDIR", &self.temporary).env(MARK, self.mark());
        let said = fs::File::create(self.said()).expect("made");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        Running(command.spawn().expect("it starts"))
    }

    /// What the last run wrote to stderr.
    fn said(&self) -> PathBuf {
        self.temporary.with_file_name("said")
    }

    fn check(&self, code: Option<i32>, kills: u64) {
        let said = fs::read_to_string(self.said()).unwrap_or_default();
        assert_eq!(code, Some(1), "{}: after {kills} kills: {said}", self.name);
    }

    fn mark(&self) -> String {
        format!("{}-{}", self.name, std::process::id())
    }

    /// The processes of this campaign that live, with their command lines.
    fn alive(&self) -> Vec<String> {
        let variable = format!("{MARK}={}", self.mark()).into_bytes();
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let marked = processes.filter(|entry| {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|one| one == variable)
        });
        let line = |entry: fs::DirEntry| {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            format!("{} {line}", entry.file_name().to_string_lossy())
        };
        marked.map(line).collect()
    }

    fn wait_until_nobody_is_alive(&self) {
        let deadline = Instant::now() + PATIENCE;
        while !self.alive().is_empty() {
            assert!(Instant::now() < deadline, "orphans of {}: {:#?}", self.name, self.alive());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What is left of the temporary files, in the folder for them and in memory.
    fn left(&self, processes: &[u32]) -> Vec<PathBuf> {
        let inside = |folder: &Path| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect::<Vec<PathBuf>>()
        };
        let (ours, others): (Vec<PathBuf>, Vec<PathBuf>) =
            inside(&self.temporary).into_iter().partition(|path| {
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("strait-"))
            });
        let content = ours.iter().flat_map(|folder| inside(folder));
        let content = content.filter(|path| !path.ends_with("STRAIT-TEMPORARY-FILES"));
        let of_process = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let mut words = name.rsplit('-');
            let process = words.nth(1).and_then(|word| word.parse().ok());
            process.is_some_and(|process| processes.contains(&process))
        };
        let memory = inside(Path::new("/dev/shm"));
        let memory = memory.iter().flat_map(|folder| inside(folder)).filter(of_process);
        others.into_iter().chain(content).chain(memory).collect()
    }

    /// Kills it so often and compares.
    fn survive(&self, wanted: &Wanted) {
        let folder = tempfile::tempdir().expect("a folder");
        let begun = Instant::now();
        let undisturbed = folder.path().join("undisturbed");
        let code = self.start(&self.begin, &undisturbed).end();
        let usual = begun.elapsed();
        let expected = (self.results)(&undisturbed);
        assert_eq!(code, Some(1), "{}: {expected:?}", self.name);
        let mut dice = dice(wanted.seed);
        let (mut kills, mut campaigns, mut processes) = (0, 0, Vec::new());
        let begun = Instant::now();
        while kills < wanted.kills {
            assert!(
                begun.elapsed() < wanted.time,
                "{}: the time is over after {kills} kills of {}",
                self.name,
                wanted.kills
            );
            let out = folder.path().join(format!("campaign-{campaigns}"));
            kills +=
                self.kill_and_resume(&out, usual, &mut dice, &mut processes, wanted.kills - kills);
            assert_eq!((self.results)(&out), expected, "{}: campaign {campaigns}", self.name);
            assert_eq!(self.left(&processes), Vec::<PathBuf>::new(), "{}", self.name);
            fs::remove_dir_all(&out).expect("ours");
            campaigns += 1;
            if campaigns % 20 == 0 {
                println!("{}: {kills} kills in {campaigns} campaigns", self.name);
            }
        }
        println!(
            "{}: {kills} kills in {campaigns} campaigns of {:.1} s, {:.0} s in all: {} programs and {} \
             findings each, as undisturbed; nothing left",
            self.name,
            usual.as_secs_f64(),
            begun.elapsed().as_secs_f64(),
            expected.programs,
            expected.findings.len(),
        );
    }

    /// One campaign to its end. How often it was killed.
    fn kill_and_resume(
        &self,
        out: &Path,
        usual: Duration,
        dice: &mut dyn FnMut(u64) -> u64,
        processes: &mut Vec<u32>,
        most: u64,
    ) -> u64 {
        let (mut kills, rounds) = (0, (1 + dice(12)).min(most));
        loop {
            // Killed at once, it has not begun, and there is nothing to resume.
            let arguments = if is_begun(out) { &self.resume } else { &self.begin };
            let mut running = self.start(arguments, out);
            processes.push(running.0.id());
            if kills == rounds {
                self.check(running.end(), kills);
                return kills;
            }
            let moment = Duration::from_micros(dice(usual.as_micros() as u64 / 4));
            std::thread::sleep(moment);
            if let Some(status) = running.0.try_wait().expect("ours") {
                self.check(status.code(), kills);
                return kills;
            }
            drop(running);
            kills += 1;
            self.wait_until_nobody_is_alive();
        }
    }
}

/// Is there a campaign in this folder?
fn is_begun(folder: &Path) -> bool {
    let is_store = folder.join("index.sqlite").exists();
    is_store && Store::open(folder).expect("a store").last_campaign().expect("readable").is_some()
}

/// Ends with the test, whatever happens.
struct Running(Child);

impl Running {
    fn end(mut self) -> Option<i32> {
        self.0.wait().expect("ours").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // That is kill -9.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(ToOwned::to_owned).collect()
}

/// A folder that ends with the test, and one in it for temporary files.
fn home() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("there");
    let temporary = root.join("temporary");
    fs::create_dir(&temporary).expect("a folder");
    (folder, root, temporary)
}

#[test]
fn fuzz_survives_kills() {
    let (_folder, directory, temporary) = home();
    let begin = words("fuzz broken-aborts --seed 11 --count 1200 --jobs 2");
    let resume = words("fuzz --resume --jobs 2");
    Campaign { name: "fuzz", begin, resume, results, directory, temporary }
        .survive(&Wanted::share(45));
}

#[test]
fn types_survives_kills() {
    let (_folder, directory, temporary) = home();
    let compiler = directory.join("compiler");
    // It has a version, and crashes over some programs.
    let script = "#!/bin/sh\ncase \"$1\" in --version) echo 'rustc 1.95.0'; exit 0;; esac\n\
                  if grep -q 7i32.*9i32.*7i32 \"$1\"; then kill -SEGV $$; fi\n";
    fs::write(&compiler, script).expect("written");
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).expect("ours");
    let oracle = compiler.display();
    let begin = words(&format!("types --fuzzer core --seed 1 --count 1500 --oracle {oracle}"));
    let resume = words(&format!("types --resume --oracle {oracle}"));
    Campaign { name: "types", begin, resume, results, directory, temporary }
        .survive(&Wanted::share(45));
}

const MODULE: [(&str, &str); 2] = [
    ("go.mod", "module example.com/killed\n\ngo 1.24\n"),
    (
        "lookup_test.go",
        "package killed

import (
	\"testing\"
	\"time\"
)

func lookup(patience time.Duration) int {
	answer := make(chan int)
	go func() {
		time.Sleep(time.Millisecond)
		answer <- 1
	}()
	select {
	case value := <-answer:
		return value
	case <-time.After(patience):
		return 0
	}
}

func TestLookup(t *testing.T) { lookup(time.Second) }

func TestFine(t *testing.T) {
	answer := make(chan int, 1)
	go func() { answer <- 1 }()
	<-answer
}
",
    ),
];

#[test]
fn go_fuzz_survives_kills() {
    if Command::new("go").arg("version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "go is missing");
        eprintln!("SKIPPED: go is missing");
        return;
    }
    let (_folder, directory, temporary) = home();
    for (name, content) in MODULE {
        fs::write(directory.join(name), content).expect("written");
    }
    let begin = words("go fuzz --runs 24 --seed 5 --jobs 2");
    let resume = words("go fuzz --resume --jobs 2");
    Campaign { name: "go fuzz", begin, resume, results, directory, temporary }
        .survive(&Wanted::share(10));
}
