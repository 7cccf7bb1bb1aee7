//! A command of the user as an oracle: it is given one program in a file and accepts it by exit code 0.
//!
//! `{}` in the command stands for the path of the file, `{.ts}` for one with that extension.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_toolchain::{End, Finished, Launcher, Limits, Scratch, Spec, run};
use tempfile::TempDir;

use crate::discover::standalone;
use crate::error::Error;
use crate::language::Language;
use crate::oracle::{Oracle, Profile, Question, Rejection, Run, RunResult};

/// The most that is kept of the beginning and of the end of what a command writes.
const KEEP: usize = 1 << 20;

/// Is this a command, and not the name or path of an oracle?
pub fn is_command(oracle: &str) -> bool {
    placeholder(oracle).is_some()
}

/// Where the file stands in a command: the placeholder, and the file's extension with its dot.
fn placeholder(command: &str) -> Option<(&str, &str)> {
    let start = command.find("{}").into_iter().chain(command.find("{.")).min()?;
    let end = start + command[start..].find('}')?;
    let extension = &command[start + 1..end];
    let is_plain = extension.chars().skip(1).all(char::is_alphanumeric);
    is_plain.then_some((&command[start..=end], extension))
}

struct Command {
    name: String,
    command: String,
    profile: Profile,
    launcher: Launcher,
    scratch: Scratch,
    stop: Arc<AtomicBool>,
    /// The time for one program.
    wall: Duration,
}

/// The command as an oracle, if the shell can start it.
pub(super) fn at(question: &Question<'_>, command: &str) -> Result<Box<dyn Oracle>, Error> {
    let first = command.split_whitespace().next().unwrap_or_default();
    let tool = Path::new(first).file_stem().map_or("command".into(), |tool| tool.to_string_lossy());
    let oracle = Command {
        name: question.name.to_owned(),
        command: command.to_owned(),
        profile: Profile::of(&tool),
        launcher: question.launcher.clone(),
        scratch: Scratch::new("types").map_err(Error::TemporaryFolder)?,
        stop: Arc::clone(question.stop),
        wall: question.wall,
    };
    // What an empty program is to a language that is not known here is not known either; that there
    // is such a command can be seen.
    let finished = oracle.finished("", &oracle.folder()?)?.0;
    match finished.end {
        End::Exited(126 | 127) => Err(question.unusable(format!(
            "the shell cannot start it: {}",
            finished.stderr.last_lines(1).trim()
        ))),
        _ => Ok(Box::new(oracle)),
    }
}

impl Command {
    /// A folder for the programs of one run.
    fn folder(&self) -> Result<TempDir, Error> {
        tempfile::tempdir_in(self.scratch.path()).map_err(Error::TemporaryFolder)
    }

    /// How the command ends, and the path of the program that it was given.
    fn finished(&self, program: &str, folder: &TempDir) -> Result<(Finished, String), Error> {
        let (placeholder, extension) = placeholder(&self.command).unwrap_or(("{}", ""));
        let path = folder.path().join(format!("program{extension}"));
        std::fs::write(&path, standalone(program)).map_err(Error::file(&path))?;
        let path = path.display().to_string();
        // The path comes as an argument, so that the shell does not read it.
        let script = self.command.replace(placeholder, "\"$1\"");
        let spec = Spec::new("sh")
            .arguments(["-c", &script, "sh", &path])
            .directory(folder.path())
            .temporary(folder.path())
            .limits(Limits { cpu: Some(self.wall), ..Limits::default() })
            .wall(self.wall)
            .keep(KEEP)
            .cancel(Arc::clone(&self.stop));
        Ok((run(&self.launcher, &spec)?, path))
    }

    fn rejection(finished: &Finished, path: &str) -> Rejection {
        let output = format!("{}{}", finished.stdout.text(), finished.stderr.text());
        let output = output.replace(path, "program");
        let message = output.lines().map(str::trim).find(|line| !line.is_empty());
        Rejection {
            message: message.unwrap_or("rejected").to_owned(),
            rendered: output,
            ..Rejection::default()
        }
    }
}

impl Oracle for Command {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        "of unknown version"
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn language(&self) -> Option<Language> {
        None
    }

    fn run(&self, programs: &[&str]) -> Result<RunResult, Error> {
        let folder = self.folder()?;
        let mut said =
            Run { rejections: Vec::new(), astray: None, crashed: None, stopped: false, cpu: None };
        for program in programs {
            let (finished, path) = self.finished(program, &folder)?;
            let rejection = || Command::rejection(&finished, &path);
            said.rejections.push(match &finished.end {
                End::Exited(0) => None,
                End::Exited(_) => Some(rejection()),
                End::Stopped => {
                    said.stopped = true;
                    break;
                }
                End::TimedOut => {
                    said.crashed = Some(("hangs".to_owned(), String::new()));
                    None
                }
                End::OverLimit(resource) => {
                    said.crashed = Some((format!("uses too {resource}"), String::new()));
                    None
                }
                End::Signalled(signal) => {
                    said.crashed = Some((signal.clone(), rejection().rendered));
                    None
                }
            });
        }
        Ok(RunResult(said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_a_place_for_the_file() {
        let table: [(&str, Option<(&str, &str)>); 6] = [
            ("mypy {}", Some(("{}", ""))),
            ("tsc --noEmit {.ts} --strict", Some(("{.ts}", ".ts"))),
            ("rustc", None),
            ("/opt/rustc:-Zx", None),
            ("sh -c 'exit {'", None),
            ("x {.a/b}", None),
        ];
        for (command, expected) in table {
            assert_eq!(placeholder(command), expected, "{command}");
        }
    }
}
