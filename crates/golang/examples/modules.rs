//! Runs the extraction over published modules, fetched through the user's Go proxy, and says how
//! much of their concurrency is lowered exactly: `cargo run --release -p strait-golang --example
//! modules [MODULE@VERSION…]`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its reader")]

#[path = "../tests/support/published.rs"]
mod published;

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use strait_golang::{ExtractOptions, Go, extract};
use strait_toolchain::{Entry, Launcher, entry};

/// Modules of many kinds: primitives, servers, clients, loggers, schedulers.
const MODULES: &[&str] = &[
    "golang.org/x/sync@latest",
    "golang.org/x/time@latest",
    "golang.org/x/net@latest",
    "google.golang.org/grpc@latest",
    "go.etcd.io/etcd/client/v3@latest",
    "go.uber.org/zap@latest",
    "github.com/gorilla/websocket@latest",
    "github.com/hashicorp/raft@latest",
    "github.com/nats-io/nats.go@latest",
    "github.com/panjf2000/ants/v2@latest",
    "github.com/prometheus/client_golang@latest",
    "github.com/redis/go-redis/v9@latest",
    "github.com/spf13/cobra@latest",
];

fn main() -> ExitCode {
    match entry(std::env::args_os()) {
        Entry::Done(code) => return code,
        Entry::Worker(_) => return ExitCode::from(2),
        Entry::Person => {}
    }
    let named: Vec<String> = std::env::args().skip(1).collect();
    let all = MODULES.iter().map(|module| (*module).to_owned()).collect();
    let mut failures = 0;
    println!("module | lines | entries | operations | exact | too large | seconds");
    for module in if named.is_empty() { all } else { named } {
        if let Err(error) = one(&module) {
            eprintln!("{module}: {error}");
            failures += 1;
        }
    }
    ExitCode::from(u8::from(failures > 0))
}

fn one(module: &str) -> Result<(), Box<dyn Error>> {
    let launcher = Launcher::this_program()?;
    let folder = tempfile::tempdir()?;
    let version = published::fetch(&Go::find(&launcher, folder.path())?, module)?;
    let go = Go::find(&launcher, &folder.path().join(published::COPY))?;
    let start = Instant::now();
    let extraction = extract(&go, &ExtractOptions::default())?;
    let (mut reached, mut exact, mut truncated) = (0, 0, 0);
    for entry in &extraction.entries {
        reached += entry.operations.reached;
        exact += entry.operations.exact;
        truncated += usize::from(entry.truncated);
    }
    let name = module.split('@').next().unwrap_or(module);
    println!(
        "{name}@{version} | {} | {} | {reached} | {exact} | {truncated} | {:.1}",
        extraction.lines,
        extraction.entries.len(),
        start.elapsed().as_secs_f64()
    );
    Ok(())
}
