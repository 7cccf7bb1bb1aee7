//! The `main` of many programs in one: runs each several times and reports in the words of
//! `strait-runtimes`. Goes behind the programs and `record.rs`.

/// Runs every program several times and reports what was seen.
/// Arguments: how often, patience in milliseconds, the first program.
fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let number = |position: usize, other| numbers.get(position).copied().unwrap_or(other);
    let (repetitions, patience) = (number(0, 10), Duration::from_millis(number(1, 5000)));
    println!("ready 1");
    for (id, program) in PROGRAMS.iter().enumerate().skip(number(2, 0) as usize) {
        println!("begin {id}");
        let begun = Instant::now();
        let mut seen: Vec<(String, u64, u64)> = Vec::new();
        let mut end = String::from("finished");
        let mut runs = 0;
        while runs < repetitions && end == "finished" {
            let run = Arc::new(Run::default());
            if run.observe(*program, patience) {
                let record = run.record();
                match seen.iter_mut().find(|(known, ..)| *known == record) {
                    Some((_, count, _)) => *count += 1,
                    None => seen.push((record, 1, runs)),
                }
                runs += 1;
            } else {
                end = format!("hung {runs}{} : {}", run.stuck(), run.record());
            }
        }
        for (record, count, first) in seen {
            println!("seen {id} {count} {first} {record}");
        }
        println!("end {id} {runs} {} {end}", begun.elapsed().as_micros());
        if end != "finished" {
            return;
        }
    }
}
