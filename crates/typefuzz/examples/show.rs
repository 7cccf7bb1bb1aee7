//! Programs of a feature on the terminal: `show MODE FUZZER COUNT SEED`, names separated by commas. With
//! a last argument, only those with that text.

#![allow(clippy::print_stdout, reason = "it shows programs")]

use strait_typefuzz::{BATCH, Error, Fuzzer, Mode, Recipe};

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, fuzzer, count, seed, rest @ ..] = arguments.as_slice() else {
        println!("usage: show MODE FUZZER COUNT SEED [TEXT]");
        return Ok(());
    };
    let names: Vec<String> = fuzzer.split(',').map(str::to_owned).collect();
    let mode = Mode::named(mode).unwrap_or(Mode::Precision);
    let recipe = Recipe::new(seed.parse().unwrap_or(1), mode, Fuzzer::named(&names)?);
    for index in 0..count.parse().unwrap_or(5) {
        let system = recipe.system(index / BATCH)?;
        let Some(case) = recipe.case(&system, index) else {
            println!("// {index}: no program\n");
            continue;
        };
        let text = system.program.print(&case.tree);
        if rest.iter().all(|part| text.contains(part.as_str())) {
            let labels: Vec<&str> = case.violations.iter().map(|one| one.label.as_str()).collect();
            println!("// {index} {} {}\n{text}", system.rules.names().join(" "), labels.join(" "));
            if let Some(other) = &case.other {
                println!("// after {}\n{}", other.rewrite, system.program.print(&other.tree));
            }
            println!();
        }
    }
    Ok(())
}
