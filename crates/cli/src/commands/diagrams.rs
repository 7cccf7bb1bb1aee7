//! Files with the diagram of an execution: a picture, a trace for Perfetto, a log for ShiViz.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use strait_diagram::{Diagram, perfetto, shiviz, svg};

/// Makes the text of a file.
type Writer = fn(&Diagram) -> String;

/// What gives no trace to draw.
const TRACELESS: [&str; 3] = ["property", "formula", "lambda_chan"];

/// Where diagrams go.
#[derive(Args)]
pub struct DiagramArgs {
    /// Draw the trace as a space-time diagram (docs/diagrams.md)
    #[arg(long, value_name = "FILE", conflicts_with_all = TRACELESS)]
    svg: Option<PathBuf>,
    /// Write the trace for Perfetto or chrome://tracing
    #[arg(long, value_name = "FILE", conflicts_with_all = TRACELESS)]
    perfetto: Option<PathBuf>,
    /// Write the trace as a ShiViz log; its first line is the regular expression to give to ShiViz
    #[arg(long, value_name = "FILE", conflicts_with_all = TRACELESS)]
    shiviz: Option<PathBuf>,
}

impl DiagramArgs {
    /// Was any of them asked for?
    pub fn are_given(&self) -> bool {
        self.svg.is_some() || self.perfetto.is_some() || self.shiviz.is_some()
    }

    /// Every file can be written, and none is the program itself.
    pub fn check(&self, program: &Path) -> anyhow::Result<()> {
        let program = program.canonicalize()?;
        let paths =
            [("--svg", &self.svg), ("--perfetto", &self.perfetto), ("--shiviz", &self.shiviz)];
        for (flag, path) in paths {
            let Some(path) = path else { continue };
            if path.canonicalize().is_ok_and(|path| path == program) {
                bail!("{flag} {}: that file is the program; name another one", path.display());
            }
            // A wrong path is found before the work begins.
            let opened = File::options().write(true).create(true).truncate(false).open(path);
            opened.with_context(|| format!("cannot write {} ({flag})", path.display()))?;
        }
        Ok(())
    }

    /// Writes what was asked for.
    pub fn write(&self, diagram: &Diagram) -> anyhow::Result<()> {
        let writers: [(&Option<PathBuf>, Writer); 3] =
            [(&self.svg, svg), (&self.perfetto, perfetto), (&self.shiviz, shiviz)];
        let diagram = diagram.clone().bounded();
        for (path, writer) in writers {
            let Some(path) = path else { continue };
            std::fs::write(path, writer(&diagram))
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}

/// Writes diagrams into a folder, numbered from 1: `1-diagram.svg` and so on.
pub fn write_diagrams(
    folder: &Path,
    diagrams: impl Iterator<Item = Diagram>,
) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (number, diagram) in (1..).zip(diagrams) {
        for (name, text) in strait_diagram::files(&diagram) {
            let path = folder.join(format!("{number}-{name}"));
            std::fs::write(&path, text)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}
