//! The TypeScript compiler, and its native port, which answers in the same form.

use strait_toolchain::Finished;

use crate::language::Language;
use crate::oracle::checker::{Checker, Message, Messages};

/// From this version on, the compiler is the native port.
pub(super) const FIRST_NATIVE: u32 = 7;

const ARGUMENTS: &[&str] = &[
    "--noEmit",
    "--strict",
    "--pretty",
    "false",
    "--skipLibCheck",
    "--target",
    "es2022",
    "--module",
    "esnext",
    "--moduleDetection",
    "force",
];

pub(super) const TSC: Checker = Checker {
    name: "tsc",
    language: Language::TypeScript,
    get: "get it with `npm install typescript@5.9` and name its path, as in \
          `--oracle node_modules/.bin/tsc`, or install it with `npm install --global`",
    arguments: ARGUMENTS,
    configuration: None,
    read,
};

pub(super) const TSGO: Checker = Checker {
    name: "tsgo",
    get: "get it with `npm install @typescript/native-preview` and name its path, as in \
          `--oracle node_modules/.bin/tsgo`, or install it with `npm install --global`",
    ..TSC
};

/// Reads `p0.ts(3,5): error TS2322: Type ...` and the lines behind it that are indented.
fn read(finished: &Finished) -> Messages {
    let mut messages = Messages::default();
    let output = finished.stdout.text();
    for line in output.lines() {
        let Some((place, text)) = line.split_once("error TS") else {
            if let (Some(last), true) = (messages.errors.last_mut(), line.starts_with(' ')) {
                last.text.push('\n');
                last.text.push_str(line);
            }
            continue;
        };
        let Some((number, text)) = text.split_once(": ") else { continue };
        let file = place.split_once('(').map_or("", |(file, _)| file);
        messages.errors.push(Message {
            file: file.to_owned(),
            code: format!("TS{number}"),
            text: text.to_owned(),
            // What the scanner and the parser say has these numbers.
            is_syntax: number.len() == 4 && number.starts_with('1') && !is_of_checker(number),
        });
    }
    messages.crashed = crash(&finished.stderr.text());
    messages
}

/// Messages with numbers like those of the parser that come from the checker.
fn is_of_checker(number: &str) -> bool {
    ["1360", "1345", "1320"].contains(&number)
}

/// How the compiler fell over: an exception of JavaScript or a panic of Go.
fn crash(output: &str) -> Option<String> {
    let is_cause = |line: &&str| {
        line.starts_with("panic: ")
            || line.starts_with("fatal error: ")
            || line.split(':').next().is_some_and(|name| {
                name.ends_with("Error") && name.chars().all(char::is_alphanumeric)
            })
            || line.starts_with("Error: Debug Failure")
    };
    output.lines().map(str::trim).find(is_cause).map(|line| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::checker::tests::words;

    #[test]
    fn messages_are_read() {
        let output = "p1.ts(3,5): error TS2322: Type 'a' is not\n  Type 'b'\n\
                      p0.ts(1,1): error TS1005: ')' expected.\nerror TS5023: Unknown option\n";
        let expected = [
            "p1.ts TS2322 Type 'a' is not\n  Type 'b'",
            "p0.ts TS1005 ')' expected. (syntax)",
            " TS5023 Unknown option",
        ];
        assert_eq!(words(&TSC, 2, output), expected);
        assert!(words(&TSGO, 0, "").is_empty());
    }

    #[test]
    fn crashes_have_a_cause() {
        let stack =
            "/x/_tsc.js:12\n  throw e;\n\nRangeError: Maximum call stack size exceeded\n at x";
        assert_eq!(crash(stack).as_deref(), Some("RangeError: Maximum call stack size exceeded"));
        assert_eq!(crash("panic: runtime error: x").as_deref(), Some("panic: runtime error: x"));
        assert_eq!(crash("npm warn"), None);
    }
}
