//! Findings and stores changed at random, and opened by every command that opens one. Whatever they
//! hold: no panic, no hang, nothing runs that they name, nothing outside of them is written.
//!
//! `STRAIT_MUTATIONS` is the number of changed stores, `STRAIT_TEST_SEED` what is drawn.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use strait_toolchain::End;

use crate::hostile::Machine;
use crate::mutate::{Random, mutate};

/// How long a command may take beyond the time that it was given.
const AT_ONCE: Duration = Duration::from_secs(1);

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The tools of the user may run, but not in a folder that was sent.
fn watch_tools(machine: &Machine) {
    let ran = machine.path("ran");
    for name in ["bin/go", "bin/cargo", "bin/mvn", "bin/java"] {
        let text = format!(
            "case \"$(pwd)\" in */sent*|*/evil*) echo {name} in \"$(pwd)\" >> {};; esac; exit 1",
            ran.display()
        );
        machine.script(name, &text);
    }
    fs::write(machine.path("evil/go.mod"), "module example.com/m\n").expect("written");
    fs::write(machine.path("evil/m_test.go"), "package m\n").expect("written");
}

/// Copies a folder that holds only files and folders.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a kind").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// A command, and the folder that it runs in.
fn command(random: &mut Random, machine: &Machine, names: &[String]) -> (String, Vec<String>) {
    let name = random.choose(names);
    let finding = machine.path(&format!("sent/findings/{name}"));
    let finding = finding.to_str().expect("a plain path");
    let time = ["--time", "0.1s"];
    let command = match random.below(7) {
        0 => vec!["replay", finding, time[0], time[1]],
        1 => vec!["go", "replay", finding, time[0], time[1]],
        2 => vec!["reduce", finding, time[0], time[1]],
        3 => vec!["--json", "replay", finding, time[0], time[1]],
        4 => vec!["report", "SENT"],
        5 => vec!["merge", "SENT", "--out", "MERGED"],
        _ => vec!["types", "--resume", "--out", "SENT", "--count", "1"],
    };
    let (sent, merged) = (machine.path("sent"), machine.path("merged"));
    let word = |word: &&str| match *word {
        "SENT" => sent.to_str().expect("a plain path").to_owned(),
        "MERGED" => merged.to_str().expect("a plain path").to_owned(),
        word => word.to_owned(),
    };
    let here = match random.below(3) {
        0 => "own".to_owned(),
        1 if Path::new(finding).is_dir() => format!("sent/findings/{name}"),
        _ => "sent".to_owned(),
    };
    (here, command.iter().map(word).collect())
}

#[test]
fn a_changed_finding_does_no_harm() {
    let count = number("STRAIT_MUTATIONS").unwrap_or(60);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    let seed = number("STRAIT_TEST_SEED").unwrap_or(now.as_nanos() as u64 | 1);
    println!("STRAIT_TEST_SEED={seed}");
    let machine = Machine::new();
    watch_tools(&machine);
    fs::rename(machine.path("sent"), machine.path("pristine")).expect("moved");
    let entries = fs::read_dir(machine.path("pristine/findings")).expect("a store").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let mut random = Random::new(seed);
    let (mut ends, mut slowest) = (BTreeMap::new(), Duration::ZERO);
    let begun = Instant::now();
    for number in 0..count {
        let prepare = || {
            for folder in ["sent", "merged"] {
                let _ = fs::remove_dir_all(machine.path(folder));
            }
            copy(&machine.path("pristine"), &machine.path("sent"));
            fs::create_dir(machine.path("merged")).expect("made");
        };
        prepare();
        let told = mutate(&mut random, &machine, &names);
        let (here, arguments) = command(&mut random, &machine, &names);
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let here = machine.path(&here);
        let before = machine.outside();
        let mut finished = machine.strait(&here, &words);
        let said = format!("{}{}", finished.stdout.text(), finished.stderr.text());
        let what =
            format!("{number} of seed {seed}: {told:?}, then {words:?} in {}", here.display());
        assert!(matches!(finished.end, End::Exited(0..=2)), "{what}: {:?} {said}", finished.end);
        assert!(!said.contains("panicked"), "{what}: {said}");
        assert!(!said.chars().any(strait_findings::is_deceptive), "{what}: {said:?}");
        assert_eq!(machine.ran(), "", "{what}: {said}");
        assert!(before == machine.outside(), "{what}: something outside has changed: {said}");
        // On a machine with much else to do, a few times more.
        for _ in 0..3 {
            if finished.wall > AT_ONCE {
                finished = machine.strait(&here, &words);
            }
        }
        assert!(finished.wall <= AT_ONCE, "{what} takes {:?}: {said}", finished.wall);
        slowest = slowest.max(finished.wall);
        *ends.entry(format!("{:?}", finished.end)).or_insert(0_u64) += 1;
    }
    let rate = begun.elapsed().as_secs_f64() * 1000.0 / count.max(1) as f64;
    println!("{count} changed stores: {ends:?}, slowest {slowest:?}, {rate:.0} ms each");
    assert!(count < 50 || ends.len() >= 2, "all ended alike: {ends:?}");
}
