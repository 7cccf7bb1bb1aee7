//! The reference page of the book is what the command line says about itself.
//!
//! In: `strait COMMAND --help` for each command, found in the help of the one above. Out:
//! `docs/reference.md`, written anew or compared with what is there. What is the same for every
//! command stands once, at the top.

use std::fmt::Write;
use std::fs;

use crate::step::Outcome;
use crate::workspace::Workspace;

const PAGE: &str = "docs/reference.md";
const EVERYWHERE: &str = "Everywhere:";

/// Writes the page.
pub fn write(workspace: &Workspace) -> Outcome {
    let written = page(workspace).and_then(|page| {
        fs::write(workspace.root().join(PAGE), page).map_err(|error| format!("{PAGE}: {error}"))
    });
    written.map_or_else(Outcome::Failed, |()| Outcome::Passed)
}

/// Is the page what the command line says?
pub fn check(workspace: &Workspace) -> Outcome {
    let there =
        fs::read_to_string(workspace.root().join(PAGE)).map_err(|error| format!("{PAGE}: {error}"));
    match page(workspace).and_then(|page| Ok((page, there?))) {
        Ok((page, there)) if page == there => Outcome::Passed,
        Ok((page, there)) => {
            let mut lines = (1..).zip(page.lines().zip(there.lines()));
            let line = lines.find(|(_, (new, old))| new != old).map_or(1, |(line, _)| line);
            Outcome::Failed(format!(
                "{PAGE}:{line} is not what the command line says: `cargo xtask book reference`"
            ))
        }
        Err(message) => Outcome::Failed(message),
    }
}

fn page(workspace: &Workspace) -> Result<String, String> {
    let mut page = String::from(
        "# Reference\n\nWhat `strait COMMAND --help` says, for each command. `cargo xtask book \
         reference` writes this page.\n\nThe options below *Everywhere* in the first block are \
         understood by every command, and are not repeated.\n",
    );
    let mut commands = vec![Vec::new()];
    while let Some(command) = commands.pop() {
        let arguments: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let help = workspace.strait(&arguments)?;
        let below = subcommands(&help).into_iter().rev();
        commands.extend(below.map(|name| [command.clone(), vec![name]].concat()));
        let title = std::iter::once("strait").chain(command.iter().map(String::as_str));
        let title: Vec<&str> = title.collect();
        let help = if command.is_empty() { trimmed(&help) } else { without_everywhere(&help) };
        let marks = "#".repeat(2 + command.len().saturating_sub(1));
        let block = help.trim_end();
        write!(page, "\n{marks} {}\n\n```text\n{block}\n```\n", title.join(" "))
            .map_err(|error| error.to_string())?;
    }
    Ok(page)
}

/// The names below `Commands:`, but for `help`, which says what is here already.
fn subcommands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = lines.take_while(|line| !line.is_empty());
    let named = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = named.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(ToString::to_string).collect()
}

/// Lines without blanks at their ends.
fn trimmed(help: &str) -> String {
    help.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A help text without the section of options that all commands share.
fn without_everywhere(help: &str) -> String {
    let mut kept = String::new();
    let mut inside = false;
    for line in help.lines() {
        inside = line == EVERYWHERE || inside && (line.is_empty() || line.starts_with(' '));
        if !inside {
            kept.push_str(line.trim_end());
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "About\n\nUsage: strait go <COMMAND>\n\nCommands:\n  fuzz    Run tests\n  \
                        verify  Prove code, or show\n          the lines\n  help    Print\n\n\
                        Options:\n  -h\n\nEverywhere:\n      --json\n          Print\n\n  -q\n\n\
                        Exit codes: 0.\n";

    #[test]
    fn commands_are_found_in_the_help() {
        assert_eq!(subcommands(HELP), ["fuzz", "verify"]);
        assert_eq!(subcommands("About\n\nOptions:\n  -h\n"), Vec::<String>::new());
    }

    #[test]
    fn what_all_commands_share_is_left_out() {
        let kept = without_everywhere(HELP);
        assert!(kept.contains("  -h\n\nExit codes: 0.\n"), "{kept}");
        assert!(!kept.contains("--json"), "{kept}");
    }
}
