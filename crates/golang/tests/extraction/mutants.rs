//! Generated programs and their mutants go out as Go and come back: the explorer must say of what
//! came back what it says of the original.
#![allow(clippy::print_stderr, reason = "how many programs agree is said aloud")]

use std::fmt::Write;
use std::fs;

use strait_calculus::{Program, Verdict};
use strait_emit::{Era, Language, batch, functions};
use strait_generate::{Config, Generator, mutant};
use strait_golang::ExtractOptions;

use crate::support::{extracted, go, verdict};

/// How many programs; the bar is measured with 5000.
const VARIABLE: &str = "STRAIT_MUTANTS";
const SEED: u64 = 9;

/// What the emitted functions call to record what they see; here it records nothing.
const RECORDER: &str = "package main

type process struct{ at int32 }

func (p *process) Go(body func(p *process)) { go body(p) }
func (p *process) got(value any)            {}
func (p *process) observed(value any)       {}
func (p *process) chose(number int)         {}
func (p *process) defaulted()               {}
func (p *process) timedOut()                {}
func (p *process) gotOrClosed(value any, ok bool) {}
";

/// Programs and mutants in turn, with the explorer's word on each.
fn programs(count: usize) -> Vec<(Program, Verdict)> {
    let config = Config { capabilities: Language::Go.capabilities(), ..Config::default() };
    let generator = Generator::new(SEED, config).expect("Go allows programs");
    let mut programs = Vec::new();
    for index in 0.. {
        let program = generator.generate(index).program;
        let changed = mutant(&program, SEED, index, 0).map(|mutant| mutant.program);
        let both = [(index % 4 == 0).then_some(program), changed];
        programs.extend(both.into_iter().flatten().filter_map(|program| {
            // A mutant may have an unbounded channel, which Go has not.
            functions(Language::Go, &program).ok()?;
            let verdict = verdict(&program)?;
            Some((program, verdict))
        }));
        if programs.len() >= count {
            break;
        }
    }
    programs.truncate(count);
    programs
}

#[test]
fn mutants_keep_their_verdict_on_the_way_through_go() {
    let count = std::env::var(VARIABLE).ok().and_then(|count| count.parse().ok()).unwrap_or(150);
    let programs = programs(count);
    let folder = tempfile::tempdir().expect("a folder");
    let Some(go) = go(folder.path()) else { return };
    let references: Vec<&Program> = programs.iter().map(|(program, _)| program).collect();
    let files = batch(Language::Go, Era::Modern, &references).expect("written as Go");
    fs::write(folder.path().join("go.mod"), "module example.com/m\n\ngo 1.24\n").expect("written");
    for (name, content) in &files {
        let keeps = content.contains("func program0(") || name.contains("program");
        if keeps && name.ends_with(".go") {
            fs::write(folder.path().join(name), content).expect("written");
        }
    }
    fs::write(folder.path().join("recorder.go"), RECORDER).expect("written");
    let options = ExtractOptions { entries: vec!["program*".to_owned()], ..Default::default() };
    let extraction = extracted(&go, options).expect("extracted");
    judge(&programs, &extraction);
}

fn judge(programs: &[(Program, Verdict)], extraction: &strait_golang::Extraction) {
    let (mut agree, mut unknown, mut wrong) = (0, 0, String::new());
    for (number, (program, label)) in programs.iter().enumerate() {
        let name = format!("example.com/m.program{number}");
        let entry = extraction.entries.iter().find(|entry| entry.name == name);
        let entry = entry.unwrap_or_else(|| panic!("{name} is missing"));
        match verdict(&entry.program).filter(|_| !entry.truncated) {
            Some(verdict) if verdict == *label => agree += 1,
            None => {
                unknown += 1;
                let why = if entry.truncated { "is too large" } else { "has too many states" };
                eprintln!("program {number} of seed {SEED} {why}");
            }
            Some(verdict) => {
                let source = strait_calculus::print(program);
                let _ = writeln!(
                    wrong,
                    "program {number} of seed {SEED}: {verdict}, not {label}; {:?}\n{source}\n{}",
                    entry.assumptions, entry.text
                );
            }
        }
    }
    eprintln!("{agree} of {} agree, {unknown} unknown", programs.len());
    assert!(wrong.is_empty(), "{agree} agree, {unknown} unknown; wrong:\n{wrong}");
    assert!(unknown * 100 <= programs.len(), "{unknown} of {} are unknown", programs.len());
}
