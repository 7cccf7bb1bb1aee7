//! Settings from `strait.toml` in the current folder: one table a subcommand, its keys the names of
//! flags. They become arguments of the command line, so they are checked like those; a flag that is
//! given wins.
//!
//! ```toml
//! [explore]
//! memory = "4GiB"
//! outcomes = true
//! ```

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{ArgMatches, Parser};

/// Why there is no command to run.
pub enum Failure {
    /// The command line is wrong, or help was asked for.
    Usage(clap::Error),
    /// `strait.toml` is wrong.
    Settings(String),
}

impl Failure {
    /// Says it and gives the exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Failure::Usage(error) => {
                let code = if error.use_stderr() { 2 } else { 0 };
                // Nobody is left to tell if even this cannot be printed.
                let _ = error.print();
                ExitCode::from(code)
            }
            Failure::Settings(text) => {
                eprintln!("error: strait.toml: {text}");
                ExitCode::from(2)
            }
        }
    }
}

/// The command line, completed by `strait.toml`.
pub fn parse<Cli: Parser>() -> Result<Cli, Failure> {
    let given: Vec<OsString> = std::env::args_os().collect();
    let matches = Cli::command().try_get_matches_from(&given).map_err(Failure::Usage)?;
    let extra = match read(Path::new("strait.toml")) {
        Ok(Some(settings)) => {
            additions(&Cli::command(), &matches, &settings).map_err(Failure::Settings)?
        }
        Ok(None) => vec![],
        Err(text) => return Err(Failure::Settings(text)),
    };
    let matches = if extra.is_empty() {
        matches
    } else {
        let all = given.into_iter().chain(extra.into_iter().map(OsString::from));
        Cli::command()
            .try_get_matches_from(all)
            .map_err(|error| Failure::Settings(first_line(&error)))?
    };
    Cli::from_arg_matches(&matches).map_err(Failure::Usage)
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_string()
}

fn read(path: &Path) -> Result<Option<toml::Table>, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    text.parse().map(Some).map_err(|error: toml::de::Error| error.to_string())
}

/// The arguments that the settings add to the command line.
fn additions(
    command: &clap::Command,
    matches: &ArgMatches,
    settings: &toml::Table,
) -> Result<Vec<String>, String> {
    for name in settings.keys() {
        if command.find_subcommand(name).is_none() {
            return Err(format!("`{name}` is no subcommand; tables are named like subcommands"));
        }
    }
    let Some((name, given)) = matches.subcommand() else { return Ok(vec![]) };
    let (Some(subcommand), Some(table)) = (command.find_subcommand(name), settings.get(name)) else {
        return Ok(vec![]);
    };
    let Some(table) = table.as_table() else {
        return Err(format!("`{name}` must be a table"));
    };
    let mut extra = Vec::new();
    for (key, value) in table {
        let flag = key.replace('_', "-");
        let argument = subcommand.get_arguments().find(|known| known.get_long() == Some(&flag));
        let Some(argument) = argument else {
            return Err(format!("[{name}] has no setting `{key}`; see `strait {name} --help`"));
        };
        if given.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine) {
            continue;
        }
        match value {
            toml::Value::Boolean(true) => extra.push(format!("--{flag}")),
            toml::Value::Boolean(false) => {}
            toml::Value::String(text) => extra.push(format!("--{flag}={text}")),
            toml::Value::Integer(number) => extra.push(format!("--{flag}={number}")),
            toml::Value::Float(number) => extra.push(format!("--{flag}={number}")),
            _ => return Err(format!("[{name}] {key} must be a string, a number or true or false")),
        }
    }
    Ok(extra)
}
