//! How different programs are: `diversity COUNT SEED`. Prints the share of trivial programs and of
//! bounds with `Clone` and `Copy` among well-typed ones, and among programs with a violated premise how
//! often each label is violated and which error codes rustc answers with.

#![allow(clippy::print_stdout, reason = "a measurement prints what it measured")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use strait_campaign::Stop;
use strait_toolchain::{Entry, Launcher, entry};
use strait_typefuzz::{
    BATCH, Error, Fuzzer, Language, Mode, Recipe, RuleSet, Verdict, find, judge_all,
};

fn main() -> ExitCode {
    match entry(std::env::args_os()) {
        Entry::Done(code) => return code,
        Entry::Worker(_) => return ExitCode::from(2),
        Entry::Person => {}
    }
    let mut numbers = std::env::args().skip(1).map(|argument| argument.parse().unwrap_or(1));
    let (count, seed) = (numbers.next().unwrap_or(2_000), numbers.next().unwrap_or(1));
    match well_typed(count, seed).and_then(|()| violated(count, seed)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::from(2)
        }
    }
}

fn share(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// Nothing but functions without parameters for types and lifetimes.
fn is_trivial(text: &str) -> bool {
    let is_plain = |line: &str| {
        let name =
            line.strip_prefix("pub fn f").map(|rest| rest.trim_start_matches(char::is_numeric));
        name.is_some_and(|rest| rest.starts_with('(') && !rest.contains("impl "))
    };
    text.lines().all(is_plain)
}

fn well_typed(count: u64, seed: u64) -> Result<(), Error> {
    let recipe = Recipe::new(seed, Mode::Precision, Fuzzer::Swarm(Language::Rust));
    let (mut programs, mut trivial, mut without) = (0, 0, 0);
    let (mut bounds, mut plain) = (0, 0);
    for index in 0..count {
        let system = recipe.system(index / BATCH)?;
        let Some(case) = recipe.case(&system, index) else { continue };
        let text = system.program.print(&case.tree);
        programs += 1;
        trivial += usize::from(is_trivial(&text));
        without += usize::from(!text.contains(" where ") && !text.contains("trait "));
        let term = system.program.term_text(&case.tree);
        for functor in ["bound(", "eq(", "hr(", "st("] {
            for (place, _) in term.match_indices(functor) {
                let is_whole = !term[..place]
                    .ends_with(|before: char| before.is_alphanumeric() || before == '_');
                bounds += usize::from(is_whole);
                let end = term[place..].find("[])").map_or(term.len(), |end| place + end + 3);
                let goal = &term[place..end];
                let is_std = |name: &str| goal.contains(&format!("tr({name},[])"));
                plain += usize::from(is_whole && (is_std("clone") || is_std("copy")));
            }
        }
    }
    println!("{programs} well-typed programs");
    println!("trivial: {:.1} %", share(trivial, programs));
    println!("without a trait or a where clause: {:.1} %", share(without, programs));
    println!("Clone and Copy among {bounds} bounds: {:.1} %", share(plain, bounds));
    Ok(())
}

fn violated(count: u64, seed: u64) -> Result<(), Error> {
    let recipe = Recipe::new(seed, Mode::Soundness, Fuzzer::Swarm(Language::Rust));
    let launcher = Launcher::this_program()?;
    let rustc = find("rustc", &launcher, Stop::default().flag())?;
    let all: Vec<&str> = Language::Rust.features().iter().map(|(name, _)| *name).collect();
    let program = RuleSet::built_in(&all)?.compile()?;
    let mut labels: BTreeMap<String, usize> =
        program.labels().iter().map(|label| (label.clone(), 0)).collect();
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    let mut programs = 0;
    for batch in 0..count.div_ceil(BATCH) {
        let system = recipe.system(batch)?;
        let indices = batch * BATCH..count.min((batch + 1) * BATCH);
        let cases: Vec<_> = indices.filter_map(|index| recipe.case(&system, index)).collect();
        let texts: Vec<String> =
            cases.iter().map(|case| system.program.print(&case.tree)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (case, verdict) in cases.iter().zip(judge_all(rustc.as_ref(), &texts)?) {
            programs += 1;
            for violation in &case.violations {
                *labels.entry(violation.label.clone()).or_default() += 1;
            }
            let code = match verdict {
                Verdict::Rejected(why) => why.codes.first().cloned().unwrap_or(why.message),
                other => other.word(),
            };
            *codes.entry(code).or_default() += 1;
        }
    }
    println!("{programs} programs with a violated premise");
    let e0308 = codes.get("E0308").copied().unwrap_or(0);
    println!("E0308: {:.1} %", share(e0308, programs));
    let never: Vec<&String> =
        labels.iter().filter(|(_, count)| **count == 0).map(|(label, _)| label).collect();
    println!("labels: {}, never violated: {never:?}", labels.len());
    println!("{labels:?}\n{codes:?}");
    Ok(())
}
