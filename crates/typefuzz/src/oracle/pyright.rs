//! pyright, by its JSON report.

use serde_json::Value;
use strait_toolchain::Finished;

use crate::language::Language;
use crate::oracle::checker::{Checker, Message, Messages};

pub(super) const PYRIGHT: Checker = Checker {
    name: "pyright",
    language: Language::Python,
    get: "get it with `pip install pyright` or `npm install pyright`, or name its path, as in \
          `--oracle venv/bin/pyright`",
    arguments: &["--outputjson"],
    configuration: Some((
        "pyrightconfig.json",
        "{ \"typeCheckingMode\": \"standard\", \"pythonVersion\": \"3.13\" }\n",
    )),
    read,
};

fn read(finished: &Finished) -> Messages {
    let mut messages = Messages::default();
    let report: Value = serde_json::from_str(&finished.stdout.text()).unwrap_or_default();
    let found = report["generalDiagnostics"].as_array().map(Vec::as_slice).unwrap_or_default();
    for one in found.iter().filter(|one| one["severity"] == "error") {
        let text = |name: &str| one[name].as_str().unwrap_or_default();
        let (code, message) = (text("rule"), text("message"));
        if message.starts_with("An internal error occurred") {
            let line = message.lines().find(|line| line.contains("Error: "));
            messages.crashed = Some(line.unwrap_or(message).trim().to_owned());
            continue;
        }
        messages.errors.push(Message {
            file: text("file").to_owned(),
            code: code.to_owned(),
            text: message.to_owned(),
            is_syntax: code.is_empty(),
        });
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::checker::tests::words;

    #[test]
    fn messages_are_read() {
        let output = r#"{"generalDiagnostics": [
            {"file": "/tmp/x/p3.py", "severity": "error", "message": "no", "rule": "reportReturnType"},
            {"file": "/tmp/x/p4.py", "severity": "information", "message": "int"},
            {"file": "/tmp/x/p5.py", "severity": "error", "message": "Expected \")\""}]}"#;
        assert_eq!(
            words(&PYRIGHT, 1, output),
            ["/tmp/x/p3.py reportReturnType no", "/tmp/x/p5.py  Expected \")\" (syntax)"]
        );
    }
}
