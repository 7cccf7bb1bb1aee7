//! scratch
#![allow(clippy::print_stdout, missing_docs)]
use strait_calculus::*;
fn main() {
    let mut text = String::new();
    std::io::Read::read_to_string(&mut std::io::stdin(), &mut text).unwrap();
    let program = match parse(&text) {
        Ok(p) => p,
        Err(e) => {
            println!("{}", e.render("-", &text));
            return;
        }
    };
    for (reduce, engine) in [
        (false, Engine::States { reduce: false, symmetry: false }),
        (true, Engine::States { reduce: true, symmetry: false }),
        (true, Engine::Dpor),
    ] {
        let e = examine(
            &program,
            &ExamineOptions {
                engine: engine.clone(),
                max_states: 200_000,
                max_length: 2000,
                memory: 256 << 20,
                ..Default::default()
            },
        );
        println!(
            "{engine:?} {reduce}: {} {} states={} exec={}",
            e.verdict, e.coverage, e.states, e.executions
        );
        let mut o: Vec<String> = e.outcomes.iter().map(|f| f.outcome.to_string()).collect();
        o.sort();
        for l in o.iter().take(8) {
            println!("   {l}");
        }
        if std::env::args().len() > 1 {
            break;
        }
    }
}
