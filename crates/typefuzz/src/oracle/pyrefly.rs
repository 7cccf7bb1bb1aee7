//! pyrefly, by its JSON report.

use serde_json::Value;
use strait_toolchain::Finished;

use crate::language::Language;
use crate::oracle::checker::{Checker, Message, Messages};

pub(super) const PYREFLY: Checker = Checker {
    name: "pyrefly",
    language: Language::Python,
    get: "get it with `pip install pyrefly`, or name its path, as in `--oracle venv/bin/pyrefly`",
    arguments: &["check", "--output-format", "json", "--threads", "1"],
    configuration: Some(("pyrefly.toml", "python-version = \"3.13\"\n")),
    read,
};

fn read(finished: &Finished) -> Messages {
    let mut messages = Messages::default();
    let report: Value = serde_json::from_str(&finished.stdout.text()).unwrap_or_default();
    let found = report["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    for one in found.iter().filter(|one| one["severity"] == "error") {
        let text = |name: &str| one[name].as_str().unwrap_or_default();
        let code = text("name");
        messages.errors.push(Message {
            file: text("path").to_owned(),
            code: code.to_owned(),
            text: text("concise_description").to_owned(),
            is_syntax: code == "parse-error",
        });
    }
    let output = finished.stderr.text();
    let mut lines = output.lines().skip_while(|line| !line.contains("panicked at"));
    messages.crashed = lines.next().map(str::to_owned);
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::checker::tests::words;

    #[test]
    fn messages_are_read() {
        let output = r#"{"errors": [
            {"path": "p3.py", "name": "bad-return", "concise_description": "no", "severity": "error"},
            {"path": "p4.py", "name": "parse-error", "concise_description": "eof", "severity": "error"},
            {"path": "p5.py", "name": "reveal-type", "concise_description": "int", "severity": "info"}]}"#;
        assert_eq!(
            words(&PYREFLY, 1, output),
            ["p3.py bad-return no", "p4.py parse-error eof (syntax)"]
        );
    }
}
