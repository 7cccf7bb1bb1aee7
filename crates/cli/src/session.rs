//! What the report says about a session: the command, the machine, the versions.

use std::collections::BTreeMap;

use strait_findings::{SessionRecord, shell_word};

/// The session of this process, with what was counted.
pub fn record(counts: BTreeMap<String, u64>) -> SessionRecord {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    SessionRecord {
        command: command(&arguments),
        strait: env!("CARGO_PKG_VERSION").to_owned(),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        cores: std::thread::available_parallelism().map_or(1, |cores| cores.get()),
        counts,
        ..SessionRecord::default()
    }
}

/// The command line without secrets: an address of a queue may hold a password, and reports are passed on.
fn command(arguments: &[String]) -> String {
    let mut words = vec!["strait".to_owned()];
    let mut is_secret = false;
    for argument in arguments {
        let shown = match (is_secret, argument.split_once('=')) {
            (true, _) => "…".to_owned(),
            (false, Some((name, _))) if is_private(name) => format!("{name}=…"),
            (false, _) => shell_word(argument),
        };
        is_secret = is_private(argument);
        words.push(shown);
    }
    words.join(" ")
}

/// Does a secret follow this option?
fn is_private(option: &str) -> bool {
    ["--queue", "--creds", "--metrics"].contains(&option)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_left_out_of_commands() {
        for (arguments, expected) in [
            ("fuzz kanal --time 10s", "strait fuzz kanal --time 10s"),
            ("fuzz --queue nats://user:pass@host/x --jobs 2", "strait fuzz --queue … --jobs 2"),
            ("fuzz --queue=nats://user:pass@host/x", "strait fuzz --queue=…"),
            ("fuzz --creds secret.creds a", "strait fuzz --creds … a"),
        ] {
            let arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
            assert_eq!(command(&arguments), expected);
        }
    }
}
