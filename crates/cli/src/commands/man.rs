//! `strait man`: the manual pages, made from the command line's own help. One page a command, with
//! the exit codes and the notes of its help in sections of their own, and each naming the others.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::Cli;
use crate::ui::Status;

/// How the sentence about exit codes begins in the help of a command.
const EXIT_CODES: &str = "Exit codes: ";
/// What holds for commands that say nothing else.
const ANY_EXIT_CODES: &str = "0 nothing found, 1 something found, 2 Strait or its input failed.";
/// What all commands share, for the page of `strait` itself.
const FILES: [(&str, &str); 2] = [
    (
        "strait.toml",
        "Settings, read from the current folder: one table per command, such as [fuzz] or \
         [go.verify], with the names of its options as keys. Options on the command line take \
         precedence.",
    ),
    (
        "strait-out/",
        "Findings of campaigns, unless --out names another folder: one directory per finding, an \
         index, and report.html.",
    ),
];

/// Print the manual page, or write one for each command into a folder
#[derive(Args)]
pub struct ManArgs {
    /// Folder for the pages, such as share/man/man1
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl ManArgs {
    pub fn run(&self) -> anyhow::Result<Status> {
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        match &self.folder {
            Some(folder) => {
                let failed = || format!("cannot write manual pages to {}", folder.display());
                std::fs::create_dir_all(folder).with_context(failed)?;
                for (command, around) in all(&command, None) {
                    let place = folder.join(format!("{}.1", name(command)));
                    std::fs::write(place, page(command, around)?).with_context(failed)?;
                }
            }
            None => std::io::stdout().lock().write_all(&page(&command, None)?)?,
        }
        Ok(Status::Clean)
    }
}

/// A command and those below it, each with the one that it belongs to.
fn all<'a>(
    command: &'a Command,
    around: Option<&'a Command>,
) -> Vec<(&'a Command, Option<&'a Command>)> {
    let below = command.get_subcommands().flat_map(|below| all(below, Some(command)));
    std::iter::once((command, around)).chain(below).collect()
}

/// `strait-go-fuzz`
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command, around: Option<&Command>) -> anyhow::Result<Vec<u8>> {
    let man = Man::new(command.clone()).source(concat!("strait ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    synopsis(command).to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    rest(command, around).to_writer(&mut page)?;
    Ok(page)
}

/// One line as in the help, instead of all options by name.
fn synopsis(command: &Command) -> Roff {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let own = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let arguments = usage.strip_prefix(own).unwrap_or(usage);
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).text([bold(own), roman(arguments)]);
    roff
}

/// What stands after the options in the help, exit codes apart; files; other pages.
fn rest(command: &Command, around: Option<&Command>) -> Roff {
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (codes, notes): (Vec<&str>, Vec<&str>) =
        after.lines().partition(|line| line.starts_with(EXIT_CODES));
    let mut roff = Roff::new();
    if !notes.is_empty() {
        roff.control("SH", ["NOTES"]);
        for note in notes {
            roff.text([roman(note)]).control("PP", []);
        }
    }
    let codes = codes.first().map_or(ANY_EXIT_CODES, |line| &line[EXIT_CODES.len()..]);
    roff.control("SH", ["EXIT STATUS"]).text([roman(codes)]);
    if around.is_none() {
        roff.control("SH", ["FILES"]);
        for (file, what) in FILES {
            roff.control("TP", []).text([bold(file)]).text([roman(what)]);
        }
    }
    let beside = around.into_iter().flat_map(Command::get_subcommands);
    let others = around.into_iter().chain(beside).chain(command.get_subcommands());
    let others: Vec<String> = others
        .map(name)
        .filter(|other| *other != name(command))
        .map(|name| format!("{name}(1)"))
        .collect();
    roff.control("SH", ["SEE ALSO"]).text([roman(others.join(", "))]);
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: &[&str]) -> String {
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        let pages = all(&command, None);
        let wanted = pages.into_iter().find(|(command, _)| name(command) == words.join("-"));
        let (command, around) = wanted.expect("a command");
        String::from_utf8(page(command, around).expect("a page")).expect("text")
    }

    #[test]
    fn every_page_named_by_another_is_there() {
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        let pages = all(&command, None);
        let names: Vec<&str> = pages.iter().map(|(command, _)| name(command)).collect();
        for (command, around) in &pages {
            let page = String::from_utf8(page(command, *around).expect("a page")).expect("text");
            let words = page.replace("\\-", "-").replace("\\fR", "").replace("\\fB", "");
            let named = words.split([' ', '\n', ',']).filter_map(|word| word.strip_suffix("(1)"));
            for other in named {
                assert!(names.contains(&other), "{} names {other}", name(command));
            }
        }
        assert!(names.contains(&"strait-go-verify"), "{names:?}");
    }

    #[test]
    fn exit_codes_and_notes_are_sections() {
        let page = text(&["strait", "replay"]);
        assert!(
            page.contains(
                ".SH \"EXIT STATUS\"\n0 the fault did not show, 1 the fault showed again"
            ),
            "{page}"
        );
        assert!(page.contains(".SH NOTES\nStrait runs the program alone"), "{page}");
        assert!(!page.contains("Exit codes"), "{page}");
        assert!(text(&["strait", "targets"]).contains(ANY_EXIT_CODES));
    }

    #[test]
    fn a_synopsis_is_the_line_of_the_help() {
        let page = text(&["strait", "fuzz"]);
        assert!(page.contains("\\fBstrait fuzz\\fR [OPTIONS] [TARGET]..."), "{page}");
    }
}
