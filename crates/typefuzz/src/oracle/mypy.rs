//! mypy. A syntax error ends its run, so the others are judged again without that program.

use strait_toolchain::Finished;

use crate::language::Language;
use crate::oracle::checker::{Checker, Message, Messages, split_place};

pub(super) const MYPY: Checker = Checker {
    name: "mypy",
    language: Language::Python,
    get: "get it with `pip install mypy`, or name its path, as in `--oracle venv/bin/mypy`",
    // Nothing is kept between runs, and no settings of the user count.
    arguments: &[
        "--no-incremental",
        "--cache-dir=/dev/null",
        "--config-file=",
        "--no-error-summary",
        "--no-color-output",
        "--show-error-codes",
        "--python-version=3.13",
        "--strict-equality",
        "--strict-optional",
    ],
    configuration: None,
    read,
};

/// Reads `p0.py:3: error: Incompatible types  [assignment]`.
fn read(finished: &Finished) -> Messages {
    let mut messages = Messages::default();
    let output = finished.stdout.text();
    for line in output.lines() {
        let Some((file, rest)) = split_place(line) else { continue };
        let Some(text) = rest.trim_start().strip_prefix("error: ") else { continue };
        if text.starts_with("INTERNAL ERROR") {
            messages.crashed = Some(text.to_owned());
            continue;
        }
        let coded = text.strip_suffix(']').and_then(|text| text.rsplit_once("  ["));
        let (text, code) = coded.unwrap_or((text, ""));
        messages.errors.push(Message {
            file: file.to_owned(),
            code: code.to_owned(),
            text: text.to_owned(),
            is_syntax: code == "syntax",
        });
    }
    if messages.crashed.is_some() {
        let errors = finished.stderr.text();
        let exception = errors.lines().rfind(|line| line.contains("Error: "));
        messages.crashed = exception.map(str::to_owned).or(messages.crashed);
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::checker::tests::words;

    #[test]
    fn messages_are_read() {
        let output = "p1.py:3: error: Got \"int\"  [return-value]\np1.py:3: note: x\n\
                      p0.py:1: error: Invalid  [syntax]\n";
        assert_eq!(
            words(&MYPY, 1, output),
            ["p1.py return-value Got \"int\"", "p0.py syntax Invalid (syntax)"]
        );
        let crash = "p1.py:3: error: INTERNAL ERROR -- Please try\n";
        assert_eq!(words(&MYPY, 2, crash), ["crashed: INTERNAL ERROR -- Please try"]);
    }
}
