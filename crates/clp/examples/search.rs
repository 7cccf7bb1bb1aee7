//! How fast a rule file is searched: `search FILE [depth=N] [size=N] [count=N] [patience=N]
//! [violations=N]`. Prints how many terms were found, their median size, and how many a second.

#![allow(clippy::print_stdout, reason = "a measurement prints what it measured")]

use std::time::Instant;

use strait_clp::{Searcher, Source, Wish, compile};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        println!("usage: search FILE [depth=N] [size=N] [count=N] [patience=N] [violations=N]");
        return;
    };
    let (mut wish, mut count) = (Wish::default(), 10_000);
    for argument in arguments {
        let (name, value) = argument.split_once('=').unwrap_or((argument.as_str(), ""));
        let Ok(value) = value.parse::<u32>() else {
            println!("{argument} is not understood");
            return;
        };
        match name {
            "depth" => wish.depth = Some(value),
            "size" => wish.size = Some(value),
            "patience" => wish.patience = u64::from(value),
            "violations" => wish.violations = value,
            _ => count = u64::from(value),
        }
    }
    let program = std::fs::read_to_string(&file)
        .map_err(|error| error.to_string())
        .and_then(|text| compile(&[Source::new(&file, text)]).map_err(|error| error.to_string()));
    let program = match program {
        Ok(program) => program,
        Err(error) => {
            println!("{error}");
            return;
        }
    };
    let mut searcher = Searcher::new(&program, wish);
    let started = Instant::now();
    let mut sizes: Vec<u32> =
        (0..count).filter_map(|index| searcher.sample_size(1, index)).collect();
    let rate = sizes.len() as f64 / started.elapsed().as_secs_f64();
    sizes.sort_unstable();
    let median = sizes.get(sizes.len() / 2).copied().unwrap_or(0);
    let gave_up = count - sizes.len() as u64;
    println!("{} terms, median size {median}, {gave_up} gave up, {rate:.0} a second", sizes.len());
}
