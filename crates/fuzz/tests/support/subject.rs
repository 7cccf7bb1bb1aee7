//! A binary for the tests: a worker when it is started as one, else a campaign that can be killed.
//!
//! `strait-fuzz-subject FOLDER TARGET COUNT JOBS [resume]`

use std::path::PathBuf;
use std::process::ExitCode;

use strait_campaign::{Campaign, Counters, Request, Stop, begin};
use strait_findings::Store;
use strait_fuzz::{Error, FuzzTarget, Programs, Settings};
use strait_runtimes::target;
use strait_toolchain::{Entry, Launcher, entry};

fn main() -> ExitCode {
    match entry(std::env::args_os()) {
        Entry::Done(code) => return code,
        Entry::Worker(arguments) => {
            let input = std::io::stdin().lock();
            let (output, complaints) = (std::io::stdout(), std::io::stderr());
            return strait_fuzz::worker_main(&arguments, input, output, complaints);
        }
        Entry::Person => {}
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match campaign(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Who started it reads this.
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{error}\n"));
            ExitCode::from(2)
        }
    }
}

fn campaign(arguments: &[String]) -> Result<(), Error> {
    let [folder, name, count, jobs, rest @ ..] = arguments else {
        return Err(Error::Bug { what: "FOLDER TARGET COUNT JOBS [resume]".to_owned() });
    };
    let number = |text: &String| text.parse::<u64>().unwrap_or(1);
    let folder = PathBuf::from(folder);
    let mut store = Store::open(&folder)?;
    let is_begun = store.last_campaign()?.is_some();
    let request = Request {
        settings: Settings::new(vec![name.clone()]),
        seed: Some(11),
        count: Some(number(count)),
        resume: !rest.is_empty() && is_begun,
        ..Request::default()
    };
    let begun = begin(&mut store, &folder, request, 0)?;
    let target = FuzzTarget::built_in(target(name)?);
    let launcher = Launcher::this_program()?;
    let campaign = Campaign {
        workload: &Programs::new(&launcher, vec![target], begun.seed)?,
        count: begun.count,
        shard: begun.shard,
        jobs: number(jobs) as usize,
        stop: &Stop::default(),
        counters: &Counters::default(),
    };
    campaign.run(&mut store, begun.id, &mut |_, _| {})?;
    store.close()?;
    Ok(())
}
