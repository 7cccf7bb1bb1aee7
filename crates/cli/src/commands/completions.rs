//! `strait completions SHELL`

use clap::builder::PossibleValuesParser;
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use strait_fuzz::Dialect;
use strait_runtimes::TARGETS;
use strait_typefuzz::{Language, ORACLES};
use strait_verify::Property;

use crate::Cli;
use crate::ui::Status;

/// Print the completion script for a shell
#[derive(Args)]
pub struct CompletionsArgs {
    /// Which shell
    shell: Shell,
}

impl CompletionsArgs {
    pub fn run(&self) -> anyhow::Result<Status> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "strait", &mut script);
        std::io::Write::write_all(&mut std::io::stdout().lock(), &script)?;
        Ok(Status::Clean)
    }
}

/// The command line with the names that its arguments know: targets, fuzzers, oracles and properties. They
/// are only suggested; a target may have a version, and an oracle may be a path.
fn command() -> Command {
    let targets = TARGETS.iter().map(|target| target.name.to_owned());
    let targets: Vec<String> = targets.chain(Dialect::all().map(Dialect::name)).collect();
    let fuzzers = Language::ALL.into_iter().flat_map(|language| {
        let features = language.features().iter().map(|(name, _)| (*name).to_owned());
        std::iter::once(language.name().to_owned()).chain(features)
    });
    let fuzzers: Vec<String> = fuzzers.collect();
    let properties = Property::ALL.map(|property| property.name().to_owned());
    let properties: Vec<String> = properties.into_iter().chain(["all".to_owned()]).collect();
    let oracles = ORACLES.map(str::to_owned).to_vec();
    let command = knowing(Cli::command(), &["fuzz"], "targets", &targets);
    let command = knowing(command, &["types"], "fuzzer", &fuzzers);
    let command = knowing(command, &["explore"], "property", &properties);
    let command = knowing(command, &["go", "verify"], "property", &properties);
    let commands: [&[&str]; 6] =
        [&["types"], &["replay"], &["reduce"], &["emit"], &["fixed"], &["go", "replay"]];
    commands.into_iter().fold(command, |command, path| knowing(command, path, "oracle", &oracles))
}

/// A command in which an argument of a subcommand knows names.
fn knowing(command: Command, path: &[&str], argument: &str, names: &[String]) -> Command {
    match path {
        [] => command.mut_arg(argument, |argument| {
            argument.value_parser(PossibleValuesParser::new(names.iter().cloned()))
        }),
        [name, path @ ..] => {
            command.mut_subcommand(*name, |inner| knowing(inner, path, argument, names))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(shell: Shell) -> String {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command(), "strait", &mut script);
        String::from_utf8(script).expect("text")
    }

    #[test]
    fn names_are_known_in_every_shell() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell);
            for name in ["crossbeam-channel", "kotlin", "polonius-next", "no-deadlock", "swarm"] {
                // PowerShell and Elvish complete no values.
                assert!(script.contains(name), "{shell}: {name}");
            }
        }
    }
}
