//! `strait replay` and `strait reduce` on what `strait types` has found.

use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use serde_json::json;
use strait_campaign::{Ending, Stop};
use strait_toolchain::Launcher;
use strait_typefuzz::{Exhibit, Permitted, Reducer, keep};

use crate::campaign::in_time;
use crate::ui::{Paint, Status, Ui};

/// Has the oracles judge the programs again.
pub fn replay(
    ui: &Ui,
    folder: &Path,
    permitted: &Permitted,
    launcher: &Launcher,
    stop: &Stop,
) -> anyhow::Result<Status> {
    let exhibit = in_time(stop, Exhibit::open(folder, permitted, launcher, stop.flag()))?;
    ui.note(format!("{}: {}", exhibit.kind(), exhibit.finding.title));
    tell_oracles(ui, &exhibit);
    let fault = exhibit.rerun()?;
    if stop.is_now() {
        bail!("stopped before the compilers had judged the program");
    }
    let again = fault.is_some();
    if ui.json {
        let (failed, runs) = (u64::from(again), 1);
        ui.document(
            &json!({ "id": exhibit.finding.id, "again": again, "failed": failed, "runs": runs }),
        )?;
    } else {
        match &fault {
            Some(fault) => {
                ui.line(ui.paint(Paint::Red, "It happened again."))?;
                if !fault.why.rendered.is_empty() {
                    ui.line(fault.why.rendered.trim_end())?;
                }
            }
            None => ui.line(ui.paint(Paint::Green, "It did not happen."))?,
        }
    }
    Ok(if again { Status::Found } else { Status::Clean })
}

/// Says which compilers judge, unless it is the version that the fault was found with.
fn tell_oracles(ui: &Ui, exhibit: &Exhibit) {
    if exhibit.oracles.iter().any(|oracle| oracle.version() == exhibit.finding.version) {
        return;
    }
    let oracles = exhibit.oracles.iter();
    let told: Vec<String> =
        oracles.map(|oracle| format!("{} {}", oracle.name(), oracle.version())).collect();
    let version = &exhibit.finding.version;
    ui.note(format!("judged by {}; found with {version}", told.join(", ")));
}

/// Makes the programs small.
pub fn reduce(
    ui: &Ui,
    folder: &Path,
    time: Duration,
    permitted: &Permitted,
    launcher: &Launcher,
    stop: &Stop,
) -> anyhow::Result<Status> {
    let exhibit = in_time(stop, Exhibit::open(folder, permitted, launcher, stop.flag()))?;
    let reducer = Reducer {
        time,
        stop: &|| stop.is_due(),
        tell: &|size, tried| ui.note(format!("size {size}, {tried} smaller programs tried")),
    };
    let Some(reduced) = reducer.reduce(&exhibit)? else {
        bail!(
            "the fault in {} does not show any more, so nothing can be left out",
            folder.display()
        );
    };
    keep(&exhibit, &reduced)?;
    let path = folder.join(exhibit.details.program_files().reduced);
    if ui.json {
        ui.document(&json!({
            "before": reduced.before,
            "after": reduced.after,
            "tried": reduced.tried,
            "minimal": reduced.is_minimal,
            "file": path,
        }))?;
        return Ok(Status::Clean);
    }
    ui.line(reduced.program.trim_end())?;
    if let Some(rewritten) = &reduced.rewritten {
        ui.line("// and after the rewrite")?;
        ui.line(rewritten.trim_end())?;
    }
    ui.line(format!(
        "// size {}, {} before; {}",
        reduced.after,
        reduced.before,
        if reduced.is_minimal { "no cut is left" } else { "time was up, more may go" },
    ))?;
    ui.note(format!("written to {}", path.display()));
    Ok(Status::Clean)
}
