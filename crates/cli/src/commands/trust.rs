//! What the commands that open a finding may run: compilers and modules that the user names, or
//! everything that the finding names.

use std::path::{Path, PathBuf};

use clap::Args;
use strait_campaign::Stop;
use strait_toolchain::Launcher;

/// Compilers that may run for a finding.
#[derive(Args, Clone, Debug)]
pub struct TrustArgs {
    /// For a finding of `strait types`: allow this compiler to run, named as for `strait types`.
    /// NAME=PATH runs the compiler at PATH instead of the one called NAME. rustc in PATH and its
    /// variants need not be named
    #[arg(long, value_name = "NAME")]
    oracle: Vec<String>,
    /// Run every program and compile every folder that the finding names. Use this only for findings
    /// from people whom you would allow to use this machine
    #[arg(long)]
    pub trust: bool,
}

/// A Go module that may be compiled for a finding.
#[derive(Args, Clone, Debug)]
pub struct ModuleArgs {
    /// For a finding of `strait go fuzz`: the folder of the Go module that is compiled and tested
    /// [default: the module of the current folder, unless it came with the finding]
    #[arg(long, value_name = "FOLDER")]
    module: Option<PathBuf>,
}

impl TrustArgs {
    /// Compilers for a finding of `strait types`.
    pub fn compilers(&self) -> strait_typefuzz::Permitted {
        strait_typefuzz::Permitted { named: self.oracle.clone(), trust: self.trust }
    }

    /// Starts the tools for a finding. They do not start in the current folder, which may be that of
    /// the finding: rustup runs the compilers that a file there names.
    pub fn launcher(&self, stop: &Stop) -> anyhow::Result<Launcher> {
        Ok(Launcher::this_program()?.in_directory("/").cancelled_by(stop.flag()))
    }

    /// Modules for a finding of `strait go fuzz`.
    pub fn modules<'a>(
        &self,
        module: &'a ModuleArgs,
        here: &'a Path,
    ) -> strait_reorder::Permitted<'a> {
        strait_reorder::Permitted { module: module.module.as_deref(), here, trust: self.trust }
    }
}
