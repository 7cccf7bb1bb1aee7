//! `strait emit` on a finding of `strait types`.

use std::path::Path;

use strait_campaign::Stop;
use strait_findings::shell_word;
use strait_toolchain::Launcher;
use strait_typefuzz::{Exhibit, ui_test};

use crate::campaign::in_time;
use crate::commands::emit::{EmitArgs, Emitted};

/// A compiler gives the same answer each time, or it does not: a few runs tell.
const RUNS: u64 = 5;

/// A file with the annotations of rustc's ui tests.
pub fn emit(
    args: &EmitArgs,
    folder: &Path,
    launcher: &Launcher,
    stop: &Stop,
) -> anyhow::Result<Emitted> {
    let permitted = args.trust.compilers();
    let exhibit = in_time(stop, Exhibit::open(&args.folder, &permitted, launcher, stop.flag()))?;
    let test = ui_test(&exhibit)?;
    let (mut failed, mut runs) = (0, 0);
    while runs < args.runs.unwrap_or(RUNS) && !stop.flag().load(std::sync::atomic::Ordering::SeqCst)
    {
        runs += 1;
        failed += u64::from(test.fails(&exhibit)?);
    }
    let flags: Vec<String> =
        test.flags.iter().map(|flag| format!(" {}", shell_word(flag))).collect();
    let program = "rustc --crate-type=lib --emit=metadata -o /dev/null";
    let command = format!("{program}{} {}", flags.concat(), test.file_names().join(" "));
    Ok(Emitted {
        files: test.files.clone(),
        failed,
        runs,
        about: test.about.clone(),
        directory: folder.to_owned(),
        command,
    })
}
