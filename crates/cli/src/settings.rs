//! Settings from `strait.toml` in the current folder, or in the nearest folder above it that has one:
//! one table per subcommand, its keys the names of flags; the flags that every subcommand has stand before the tables. They become arguments of the
//! command line, so they are checked like those; a flag that is given wins, also over settings that
//! contradict it.
//!
//! ```toml
//! color = "never"
//!
//! [explore]
//! memory = "4GiB"
//! outcomes = true
//! ```

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::ValueRange;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Parser};
use strait_calculus::closest;

use crate::terminal::Terminal;
use crate::ui::say;

/// The name of the file.
const FILE: &str = "strait.toml";
/// The most bytes of it.
const LONGEST: u64 = 1 << 20;
/// In a folder with this file, which is a finding and may come from another person, settings do not
/// count.
const FINDING: &str = "finding.json";
/// What lets programs run that a finding names is for the user alone, and a `strait.toml` may have
/// come with the finding: tables, with `*` for all of them, and their settings.
const COMMAND_LINE_ONLY: [(&str, &str); 11] = [
    ("*", "trust"),
    ("replay", "oracle"),
    ("replay", "module"),
    ("reduce", "oracle"),
    ("emit", "oracle"),
    ("emit", "module"),
    ("fixed", "oracle"),
    ("fixed", "module"),
    ("go.replay", "oracle"),
    ("go.replay", "module"),
    ("merge", "out"),
];
/// The same if a campaign is resumed, whose folder may come from another person.
const COMMAND_LINE_ONLY_WITH_RESUME: [(&str, &str); 2] =
    [("types", "oracle"), ("fuzz", "flix-jar")];

/// The flag of commands that resume a campaign.
const RESUME: &str = "resume";

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
                // If even this cannot be printed, there is no other way to report it.
                let _ = error.print();
                ExitCode::from(code)
            }
            Failure::Settings(text) => {
                say(Terminal::new(false), format!("error: strait.toml: {}", text.trim_end()));
                ExitCode::from(2)
            }
        }
    }
}

/// The command line, completed by `strait.toml`.
pub fn parse<Cli: Parser>() -> Result<Cli, Failure> {
    let given: Vec<OsString> = std::env::args_os().collect();
    let command = Cli::command();
    let usage = |error| Failure::Usage(with_near_option(error, &Cli::command(), &given));
    let matches = command.try_get_matches_from(&given).map_err(usage)?;
    let settings = match nearest(&std::env::current_dir().unwrap_or_default()) {
        Some(path) => read(&path).map_err(Failure::Settings)?,
        None => toml::Table::new(),
    };
    let matches = match completed(&Cli::command(), &given, &matches, &settings) {
        Ok(None) => matches,
        Ok(Some(all)) => Cli::command()
            .try_get_matches_from(all)
            .map_err(|error| Failure::Settings(first_paragraph(&error)))?,
        Err(text) => return Err(Failure::Settings(text)),
    };
    Cli::from_arg_matches(&matches).map_err(Failure::Usage)
}

/// The error with the option that is the fewest edits away from the unknown one. Of two that have the same
/// letters clap suggests the first, such as `--item` for `--tiem`.
fn with_near_option(
    mut error: clap::Error,
    command: &clap::Command,
    given: &[OsString],
) -> clap::Error {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let (Some(name), ErrorKind::UnknownArgument) = (unknown.strip_prefix("--"), error.kind())
    else {
        return error;
    };
    let mut command = command.clone();
    command.build();
    let mut words = given.iter().skip(1).filter_map(|word| word.to_str());
    let mut innermost = &command;
    while let Some(inner) = words.find_map(|word| innermost.find_subcommand(word)) {
        innermost = inner;
    }
    let options = innermost.get_arguments().filter_map(Arg::get_long);
    if let Some(near) = closest(name, options) {
        let near = ContextValue::String(format!("--{near}"));
        let usage = ContextValue::StyledStr(innermost.clone().render_usage());
        error.insert(ContextKind::SuggestedArg, near);
        error.insert(ContextKind::Usage, usage);
    }
    error
}

/// What clap says is wrong, without the usage that it adds.
fn first_paragraph(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim);
    let paragraph = lines.collect::<Vec<_>>().join(" ");
    paragraph.trim_start_matches("error: ").to_string()
}

/// The `strait.toml` of a folder, or of the nearest folder above it that has one.
fn nearest(folder: &Path) -> Option<PathBuf> {
    let folders = folder.ancestors().filter(|folder| !folder.join(FINDING).exists());
    folders.map(|folder| folder.join(FILE)).find(|file| file.exists())
}

/// The settings; none if there is no such file.
fn read(path: &Path) -> Result<toml::Table, String> {
    let failed = |error: std::io::Error| format!("cannot read it: {error}");
    match std::fs::metadata(path) {
        // It may have come with a finding: a named pipe would block, and a device has no end.
        Ok(metadata) if !metadata.is_file() => Err("it is not a regular file".to_owned()),
        Ok(metadata) if metadata.len() > LONGEST => Err("it is longer than 1 MiB".to_owned()),
        Ok(_) => {
            let text = std::fs::read_to_string(path).map_err(failed)?;
            text.parse().map_err(|error: toml::de::Error| error.to_string())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(toml::Table::new()),
        Err(error) => Err(failed(error)),
    }
}

/// The command line with what the settings add, if they add anything.
fn completed(
    command: &clap::Command,
    given: &[OsString],
    matches: &ArgMatches,
    settings: &toml::Table,
) -> Result<Option<Vec<OsString>>, String> {
    let extra = additions(command, matches, settings)?;
    if extra.is_empty() {
        return Ok(None);
    }
    // Right after the subcommand: what follows a `--` is no flag.
    let (mut matches, mut end) = (matches, 1);
    while let Some((name, inner)) = matches.subcommand() {
        let place = given.iter().skip(end).position(|word| word == name);
        end = place.map_or(given.len(), |place| end + place + 1);
        matches = inner;
    }
    let (before, after) = given.split_at(end);
    let extra = extra.into_iter().map(OsString::from);
    Ok(Some(before.iter().cloned().chain(extra).chain(after.iter().cloned()).collect()))
}

/// The arguments that the settings add to the command line.
fn additions(
    command: &clap::Command,
    matches: &ArgMatches,
    settings: &toml::Table,
) -> Result<Vec<String>, String> {
    let Some((name, given)) = matches.subcommand() else { return Ok(vec![]) };
    let innermost = innermost(given);
    let mut extra = Vec::new();
    for (key, value) in settings {
        if let Some(subcommand) = command.find_subcommand(key) {
            let Some(table) = value.as_table() else {
                return Err(format!(
                    "`{key}` must be a table: write [{key}] and the settings below"
                ));
            };
            if key == name {
                add_table(subcommand, subcommand.get_name(), given, table, &mut extra)?;
            }
        } else if let Some(argument) = global(command, key) {
            if innermost.value_source(argument.get_id().as_str()) != Some(ValueSource::CommandLine)
            {
                add(argument, key, value, &mut extra)?;
            }
        } else if value.is_table() {
            return Err(format!("[{key}] is no subcommand; see `strait --help` for their names"));
        } else {
            return Err(format!(
                "there is no setting `{key}` for all subcommands; see `strait --help`"
            ));
        }
    }
    Ok(extra)
}

/// What was given to the subcommand of a subcommand, or to the subcommand itself.
fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, inner)| innermost(inner))
}

fn add_table(
    subcommand: &clap::Command,
    name: &str,
    given: &ArgMatches,
    table: &toml::Table,
    extra: &mut Vec<String>,
) -> Result<(), String> {
    for (key, value) in table {
        // A group such as `go` has tables below its own: [go.fuzz].
        if let (Some(inner), Some(table)) = (subcommand.find_subcommand(key), value.as_table()) {
            if let Some((_, given)) = given.subcommand().filter(|(chosen, _)| chosen == key) {
                add_table(inner, &format!("{name}.{key}"), given, table, extra)?;
            }
            continue;
        }
        let Some(argument) = named(subcommand, key) else {
            let command = name.replace('.', " ");
            return Err(format!("[{name}] has no setting `{key}`; see `strait {command} --help`"));
        };
        let flag = key.replace('_', "-");
        let is_this =
            |(table, setting): &(&str, &str)| (*table == "*" || *table == name) && *setting == flag;
        let is_resumed = || {
            let is_given = given.try_get_one::<bool>(RESUME).ok().flatten() == Some(&true);
            is_given || table.get(RESUME).and_then(toml::Value::as_bool) == Some(true)
        };
        if COMMAND_LINE_ONLY.iter().any(is_this) {
            return Err(format!(
                "[{name}] `{key}` counts only on the command line: write --{flag}"
            ));
        }
        if COMMAND_LINE_ONLY_WITH_RESUME.iter().any(is_this) && is_resumed() {
            return Err(format!(
                "[{name}] `{key}` counts only on the command line if a campaign is resumed: write --{flag}"
            ));
        }
        let mut flags = Vec::new();
        add(argument, key, value, &mut flags).map_err(|text| format!("[{name}] {text}"))?;
        if !overruled(subcommand, given, argument) {
            extra.append(&mut flags);
        }
    }
    Ok(())
}

fn named<'a>(command: &'a clap::Command, key: &str) -> Option<&'a Arg> {
    let flag = key.replace('_', "-");
    command.get_arguments().find(|known| known.get_long() == Some(&flag))
}

/// A flag that every subcommand has.
fn global<'a>(command: &'a clap::Command, key: &str) -> Option<&'a Arg> {
    named(command, key).filter(|argument| argument.is_global_set())
}

/// Is the same flag given, or one that contradicts it?
fn overruled(subcommand: &clap::Command, given: &ArgMatches, argument: &Arg) -> bool {
    let contradicts = |one: &Arg, other: &Arg| {
        let conflicts = subcommand.get_arg_conflicts_with(one);
        conflicts.iter().any(|conflict| conflict.get_id() == other.get_id())
    };
    let from_user = |known: &&Arg| {
        given.value_source(known.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    subcommand.get_arguments().filter(from_user).any(|known| {
        known.get_id() == argument.get_id()
            || contradicts(known, argument)
            || contradicts(argument, known)
    })
}

/// The flags for one setting.
fn add(
    argument: &Arg,
    key: &str,
    value: &toml::Value,
    extra: &mut Vec<String>,
) -> Result<(), String> {
    let flag = key.replace('_', "-");
    let takes_values = argument.get_action().takes_values();
    let bare = argument.get_num_args().unwrap_or(ValueRange::SINGLE).min_values() == 0;
    match (value, argument.get_action()) {
        (toml::Value::Integer(count @ 0..=9), ArgAction::Count) => {
            extra.extend((0..*count).map(|_| format!("--{flag}")));
        }
        (toml::Value::Boolean(wanted), _) if !takes_values || bare => {
            extra.extend(wanted.then(|| format!("--{flag}")));
        }
        (toml::Value::Array(items), ArgAction::Append) => {
            let texts: Option<Vec<String>> = items.iter().map(text).collect();
            let texts =
                texts.ok_or_else(|| format!("`{key}` must be a list of names or numbers"))?;
            extra.extend(texts.iter().map(|text| format!("--{flag}={text}")));
        }
        _ if !takes_values => return Err(format!("`{key}` must be true or false")),
        (value, _) => {
            let text =
                text(value).ok_or_else(|| format!("`{key}` must be a string or a number"))?;
            extra.push(format!("--{flag}={text}"));
        }
    }
    Ok(())
}

fn text(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn command() -> clap::Command {
        let flag = |name: &'static str| Arg::new(name).long(name);
        let explore = clap::Command::new("explore")
            .arg(Arg::new("file"))
            .arg(flag("outcomes").action(ArgAction::SetTrue))
            .arg(flag("max-size").value_name("N"))
            .arg(flag("replay").conflicts_with("outcomes"))
            .arg(flag("mutants").num_args(0..=1).require_equals(true))
            .arg(flag("allow").action(ArgAction::Append));
        clap::Command::new("strait")
            .arg(flag("color").global(true))
            .arg(flag("verbose").short('v').global(true).action(ArgAction::Count))
            .subcommand(explore)
            .subcommand(
                clap::Command::new("go").subcommand(
                    clap::Command::new("fuzz").arg(flag("time")).arg(Arg::new("packages")),
                ),
            )
            .subcommand(clap::Command::new("gen"))
    }

    /// The whole command line, or the complaint.
    fn complete(line: &str, settings: &str) -> String {
        let given: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let matches = command().try_get_matches_from(&given).expect("a correct command line");
        let settings: toml::Table = settings.parse().expect("correct TOML");
        match completed(&command(), &given, &matches, &settings) {
            Ok(all) => all.unwrap_or(given).join(OsStr::new(" ")).into_string().expect("UTF-8"),
            Err(complaint) => complaint,
        }
    }

    #[track_caller]
    fn check(line: &str, settings: &str, expected: &str) {
        assert_eq!(complete(line, settings), expected, "{settings}");
    }

    #[test]
    fn settings_become_flags_after_the_subcommand() {
        let line = "strait explore a";
        check(line, "", "strait explore a");
        check(line, "[explore]\noutcomes = true", "strait explore --outcomes a");
        check(line, "[explore]\noutcomes = false", "strait explore a");
        check(line, "[explore]\nmax-size = 3", "strait explore --max-size=3 a");
        check(line, "[explore]\nmax_size = \"3\"", "strait explore --max-size=3 a");
        check(line, "[explore]\nmax-size = 1.5", "strait explore --max-size=1.5 a");
        check(line, "[explore]\nmutants = true", "strait explore --mutants a");
        check(line, "[explore]\nmutants = 2", "strait explore --mutants=2 a");
        check(line, "[explore]\nallow = [\"x\", 1]", "strait explore --allow=x --allow=1 a");
        check(
            "strait explore -- a",
            "[explore]\noutcomes = true",
            "strait explore --outcomes -- a",
        );
    }

    #[test]
    fn groups_have_tables_below_their_own() {
        let line = "strait go fuzz ./...";
        check(line, "[go.fuzz]\ntime = \"1m\"", "strait go fuzz --time=1m ./...");
        check(line, "color = \"never\"", "strait go fuzz --color=never ./...");
        let given = "strait go fuzz --time=2m";
        check(given, "[go.fuzz]\ntime = \"1m\"", given);
        check(
            line,
            "[go.fuzz]\nspeed = 1",
            "[go.fuzz] has no setting `speed`; see `strait go fuzz --help`",
        );
    }

    #[test]
    fn settings_of_other_subcommands_do_nothing() {
        check("strait gen", "[explore]\noutcomes = true", "strait gen");
    }

    #[test]
    fn flags_of_all_subcommands_stand_before_the_tables() {
        check("strait gen", "color = \"never\"", "strait gen --color=never");
        check("strait gen", "verbose = 2", "strait gen --verbose --verbose");
        check("strait --color=always gen", "color = \"never\"", "strait --color=always gen");
        check("strait gen --color=always", "color = \"never\"", "strait gen --color=always");
    }

    #[test]
    fn flags_that_are_given_win() {
        let given = "strait explore --max-size=1 a";
        check(given, "[explore]\nmax-size = 3", given);
        let given = "strait explore --replay=0 a";
        check(given, "[explore]\noutcomes = true", given);
        let given = "strait explore --outcomes a";
        check(given, "[explore]\nreplay = \"0\"", given);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_name() {
        let line = "strait explore a";
        check(
            line,
            "explore = 1",
            "`explore` must be a table: write [explore] and the settings below",
        );
        check(line, "[expolre]", "[expolre] is no subcommand; see `strait --help` for their names");
        let complaint = "there is no setting `outcomes` for all subcommands; see `strait --help`";
        check(line, "outcomes = true", complaint);
        let complaint = "[explore] has no setting `speed`; see `strait explore --help`";
        check(line, "[explore]\nspeed = 1", complaint);
        check(line, "[explore]\nfile = \"b\"", &complaint.replace("speed", "file"));
        check(line, "[explore]\noutcomes = \"yes\"", "[explore] `outcomes` must be true or false");
        let complaint = "[explore] `max-size` must be a string or a number";
        check(line, "[explore]\nmax-size = true", complaint);
        check(line, "[explore]\nmax-size = [1]", complaint);
        let complaint = "[explore] `allow` must be a list of names or numbers";
        check(line, "[explore]\nallow = [true]", complaint);
    }

    #[test]
    fn clap_is_quoted_without_its_usage() {
        let command = clap::Command::new("strait")
            .arg(Arg::new("engine").long("engine").value_parser(["states", "dpor"]));
        let error = command.try_get_matches_from(["strait", "--engine=x"]).expect_err("no engine");
        let expected = "invalid value 'x' for '--engine <engine>' [possible values: states, dpor]";
        assert_eq!(first_paragraph(&error), expected);
    }

    #[test]
    fn the_option_that_is_fewest_edits_away_is_suggested() {
        let option = |name: &'static str| Arg::new(name).long(name);
        let fuzz = clap::Command::new("fuzz").arg(option("item")).arg(option("time"));
        let command = clap::Command::new("strait").arg(option("color")).subcommand(fuzz);
        for (line, expected) in [
            ("strait fuzz --tiem 3", Some("'--time'")),
            ("strait fuzz --itme 3", Some("'--item'")),
            ("strait --clor 3", Some("'--color'")),
            ("strait fuzz --nothing-like-it", None),
        ] {
            let given: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let error = command.clone().try_get_matches_from(&given).expect_err("unknown");
            let error = with_near_option(error, &command, &given).to_string();
            let tip = error.lines().find_map(|line| line.split_once("a similar argument exists: "));
            assert_eq!(tip.map(|(_, tip)| tip), expected, "{error}");
        }
    }

    #[test]
    fn the_nearest_file_above_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("a/b/c");
        std::fs::create_dir_all(&inner).expect("folders");
        let write = |path: &str| std::fs::write(folder.path().join(path), "").expect("a file");
        write(FILE);
        assert_eq!(nearest(&inner), Some(folder.path().join(FILE)));
        write("a/b/strait.toml");
        assert_eq!(nearest(&inner), Some(folder.path().join("a/b").join(FILE)));
        assert_eq!(nearest(&folder.path().join("a")), Some(folder.path().join(FILE)));
    }

    #[test]
    fn no_file_is_no_setting_and_a_folder_is_a_complaint() {
        assert_eq!(read(Path::new("no/such/strait.toml")), Ok(toml::Table::new()));
        let complaint = read(Path::new("src")).expect_err("src is a folder");
        assert_eq!(complaint, "it is not a regular file");
    }
}
