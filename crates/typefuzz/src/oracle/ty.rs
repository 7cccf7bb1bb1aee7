//! ty, by its concise output.

use strait_toolchain::Finished;

use crate::language::Language;
use crate::oracle::checker::{Checker, Message, Messages, split_place};

pub(super) const TY: Checker = Checker {
    name: "ty",
    language: Language::Python,
    get: "get it with `pip install ty`, or name its path, as in `--oracle venv/bin/ty`",
    // Its exit code is 1 for warnings too, so only what it writes counts.
    arguments: &["check", "--output-format", "concise", "--exit-zero"],
    configuration: Some(("ty.toml", "[environment]\npython-version = \"3.13\"\n")),
    read,
};

/// Reads `p0.py:3:12: error[invalid-return-type] Return type does not match`.
fn read(finished: &Finished) -> Messages {
    let mut messages = Messages::default();
    let output = finished.stdout.text();
    for line in output.lines() {
        let Some((file, rest)) = split_place(line) else { continue };
        let Some((_, rest)) = rest.split_once(": ") else { continue };
        let Some((code, text)) = rest.strip_prefix("error[").and_then(|rest| rest.split_once("] "))
        else {
            if let Some(text) = rest.strip_prefix("fatal[panic] ") {
                messages.crashed = Some(format!("panic: {text}"));
            }
            continue;
        };
        messages.errors.push(Message {
            file: file.to_owned(),
            code: code.to_owned(),
            text: text.to_owned(),
            is_syntax: code == "invalid-syntax",
        });
    }
    if messages.crashed.is_none() && output.contains("panicked at") {
        let line = output.lines().find(|line| line.contains("panicked at"));
        messages.crashed = line.map(|line| line.trim().to_owned());
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::checker::tests::words;

    #[test]
    fn messages_are_read() {
        let output = "p0.py:3:12: error[invalid-return-type] expected `str`: no\n\
                      p1.py:4:1: warning[undefined-reveal] x\np7.py:1:2: error[invalid-syntax] eof\n\
                      Found 3 diagnostics\n";
        assert_eq!(
            words(&TY, 1, output),
            ["p0.py invalid-return-type expected `str`: no", "p7.py invalid-syntax eof (syntax)"]
        );
    }
}
