//! The `main` of a program that stands alone. Goes behind the program and `record.rs`.

/// Runs the program once and prints what its processes saw.
fn main() {
    let run = Arc::new(Run::default());
    run.observe(program, Duration::from_secs(5));
    println!("{}", run.record());
}
