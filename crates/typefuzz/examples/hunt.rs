//! A campaign without the command line around it, for measurements: `hunt MODE FUZZER ORACLES COUNT
//! SEED FOLDER [reduce]`, names separated by commas. Ends with programs per second, and with those a
//! second of processor time, compilers included.

#![allow(clippy::print_stdout, reason = "a measurement prints what it measured")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use strait_campaign::{Campaign, Counters, Stop};
use strait_findings::{FINDINGS, Store};
use strait_toolchain::{Entry, Launcher, entry};
use strait_typefuzz::{
    Error, Exhibit, Fuzzer, GENERATOR_VERSION, Mode, Permitted, Programs, Recipe, Reducer, counts,
    find, keep,
};

fn main() -> ExitCode {
    match entry(std::env::args_os()) {
        Entry::Done(code) => return code,
        Entry::Worker(_) => return ExitCode::from(2),
        Entry::Person => {}
    }
    match hunt(&std::env::args().skip(1).collect::<Vec<String>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::from(2)
        }
    }
}

fn hunt(arguments: &[String]) -> Result<(), Error> {
    let [mode, fuzzer, oracles, count, seed, folder, rest @ ..] = arguments else {
        println!("usage: hunt MODE FUZZER ORACLES COUNT SEED FOLDER [reduce]");
        return Ok(());
    };
    let split = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<String>>();
    let launcher = Launcher::this_program()?;
    let stop = Stop::default();
    let oracles = split(oracles)
        .iter()
        .map(|name| find(name, &launcher, stop.flag()))
        .collect::<Result<Vec<_>, _>>()?;
    let seed = seed.parse().unwrap_or(1);
    let mode = Mode::named(mode).unwrap_or(Mode::Precision);
    let recipe = Recipe::new(seed, mode, Fuzzer::named(&split(fuzzer))?);
    let counters = Counters::default();
    let mut store = Store::open(folder)?;
    let settings = arguments.join(" ");
    let id = store.campaign(seed, GENERATOR_VERSION, &settings)?;
    let (started, before) = (Instant::now(), processor_seconds());
    let campaign = Campaign {
        workload: &Programs::new(recipe, oracles)?,
        count: count.parse().ok(),
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        shard: strait_queue::Shard::default(),
        stop: &stop,
        counters: &counters,
    };
    campaign.run(&mut store, id, &mut |recorded, found| {
        println!(
            "{:6.1} s {} {} ({})",
            started.elapsed().as_secs_f64(),
            found.kind,
            found.title,
            recorded.id
        );
    })?;
    let (seconds, busy) = (started.elapsed().as_secs_f64(), processor_seconds() - before);
    let programs = counters.programs();
    println!(
        "{programs} programs, {} accepted, {} indices without one; {:.0}/s, {:.0} per processor second; known {:?}",
        counters.count(counts::ACCEPTED),
        counters.count(counts::SKIPPED),
        programs as f64 / seconds,
        programs as f64 / busy.max(0.01),
        counts::known_classes(&counters.counts()),
    );
    let found: Vec<String> = store.findings().map(|finding| finding.id.clone()).collect();
    store.close()?;
    if rest.iter().any(|word| word == "reduce") {
        for id in found {
            let place = std::path::Path::new(folder).join(FINDINGS).join(id);
            // They were found a moment ago, with oracles from the command line.
            let permitted = Permitted { named: Vec::new(), trust: true };
            let exhibit = Exhibit::open(&place, &permitted, &launcher, stop.flag())?;
            let reducer =
                Reducer { time: Duration::from_secs(90), stop: &|| false, tell: &|_, _| {} };
            if let Some(reduced) = reducer.reduce(&exhibit)? {
                keep(&exhibit, &reduced)?;
                println!("--- {} {}\n{}", exhibit.kind(), exhibit.finding.title, reduced.program);
                if let Some(rewritten) = &reduced.rewritten {
                    println!("--- after the rewrite\n{rewritten}");
                }
                println!("size {} -> {}, {} tried", reduced.before, reduced.after, reduced.tried);
            }
        }
    }
    Ok(())
}

/// Processor time of this process and of the children it waited for, the supervisors' included.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: f64 =
        fields.iter().skip(11).take(4).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}
