//! Feeds the parser random inputs: `fuzz_parser COUNT SEED`. Each input is noise, tokens, statements
//! or a changed file of the corpus; what parses must survive being printed and read again. Prints
//! how many parsed and panicked, and each input that panicked. Fails if any did.

#![allow(clippy::print_stdout, reason = "an example is a program of its own")]

#[path = "../tests/common/fuzz.rs"]
mod fuzz;
#[path = "../tests/common/rng.rs"]
mod rng;
#[path = "../tests/common/sources.rs"]
mod sources;

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::Instant;

use fuzz::{Edit, STATEMENTS, TOKENS, edited, feed, frame};
use rng::Rng;
use sources::sources;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (Some(Ok(count)), Some(Ok(seed))) = (arguments.next(), arguments.next()) else {
        println!("usage: fuzz_parser COUNT SEED");
        return ExitCode::from(2);
    };
    let sources = sources();
    let start = Instant::now();
    let (mut parsed, mut panicked) = ([0u64; 4], 0u64);
    for index in 0..count {
        let mut rng = Rng(seed ^ index.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let kind = index as usize % 4;
        let input = input(kind, &mut rng, &sources);
        match catch_unwind(|| feed(&input).is_some()) {
            Ok(whole) => parsed[kind] += u64::from(whole),
            Err(_) => {
                panicked += 1;
                println!("input {index} panicked:\n{}", String::from_utf8_lossy(&input));
            }
        }
    }
    let [bytes, tokens, statements, changed] = parsed;
    println!(
        "{count} inputs in {:.1} s; parsed: {bytes} of bytes, {tokens} of tokens, {statements} of \
         statements, {changed} of changed files; {panicked} panicked",
        start.elapsed().as_secs_f64()
    );
    if panicked == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn input(kind: usize, rng: &mut Rng, sources: &[(String, String)]) -> Vec<u8> {
    match kind {
        0 => (0..rng.below(200)).map(|_| rng.next() as u8).collect(),
        1 => {
            let tokens: Vec<&str> = (0..rng.below(60)).map(|_| *rng.pick(&TOKENS)).collect();
            let body = tokens.join(" ");
            if rng.below(2) == 0 { body.into() } else { frame(&body).into() }
        }
        2 => {
            let statements: Vec<&str> =
                (0..rng.below(10)).map(|_| *rng.pick(&STATEMENTS)).collect();
            frame(&statements.join("\n")).into()
        }
        _ => {
            let edits: Vec<Edit> = (0..1 + rng.below(6))
                .map(|_| Edit {
                    what: rng.next() as u8,
                    at: rng.next() as u32,
                    other: rng.next() as u32,
                })
                .collect();
            edited(&rng.pick(sources).1, &edits).into()
        }
    }
}
