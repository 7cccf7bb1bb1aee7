//! Runs the extraction over published modules, fetched through the user's Go proxy, and says how
//! much of their concurrency is lowered exactly: `cargo run --release -p strait-golang --example
//! modules [MODULE@VERSION…]`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its reader")]

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use serde::Deserialize;
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

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    version: String,
    dir: PathBuf,
}

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
    let go = Go::find(&launcher, folder.path())?;
    let finished = go.run(go.spec(["mod", "download", "-json", module]))?;
    let downloaded: Downloaded = serde_json::from_str(&finished.stdout.text())?;
    // The module cache is read-only, and loading may have to complete a go.sum.
    let copy = folder.path().join("module");
    copy_tree(&downloaded.dir, &copy)?;
    let go = Go::find(&launcher, &copy)?;
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
        "{name}@{} | {} | {} | {reached} | {exact} | {truncated} | {:.1}",
        downloaded.version,
        extraction.lines,
        extraction.entries.len(),
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for file in fs::read_dir(from)? {
        let file = file?;
        let target = to.join(file.file_name());
        if file.file_type()?.is_dir() {
            copy_tree(&file.path(), &target)?;
        } else {
            fs::write(target, fs::read(file.path())?)?;
        }
    }
    Ok(())
}
