//! When two findings are the same fault: same kind, same target, same top of the stack or trace once
//! everything is stripped that differs from run to run.

use crate::kind::Kind;

/// How many lines of a stack count.
const TOP: usize = 6;
/// How many characters of a line count.
const WIDTH: usize = 200;

/// Frames that every panic and abort has, and lines around them.
const BORING: [&str; 16] = [
    "rust_begin_unwind",
    "core::panicking::",
    "std::panicking::",
    "std::rt::",
    "std::sys::",
    "__rust_",
    "rust_eh_personality",
    "stack backtrace:",
    "note: run with",
    "note: Some details are omitted",
    "gsignal",
    "__GI_raise",
    "__GI_abort",
    "pthread_kill",
    "goroutine ",
    "[signal ",
];

/// The lines of a stack, trace or message that identify a fault: the first ones that say something,
/// without addresses, numbers, hashes and white space at the edges.
pub fn normalise(text: &str) -> String {
    let lines = text.lines().map(line).filter(|line| line.chars().any(char::is_alphabetic));
    let telling =
        lines.filter(|line| !BORING.iter().any(|boring| line.contains(boring.trim_start())));
    let top: Vec<String> = telling.take(TOP).collect();
    top.join("\n")
}

fn line(text: &str) -> String {
    let mut stripped = String::new();
    let mut rest = strip_frame(text.trim());
    while let Some(char) = rest.chars().next() {
        let taken = if rest.starts_with("0x") || rest.starts_with("0X") {
            stripped.push_str("ADDRESS");
            2 + count(&rest[2..], |char| char.is_ascii_hexdigit())
        } else if rest.starts_with("::h")
            && count(&rest[3..], |char| char.is_ascii_hexdigit()) == 16
        {
            // The hash that rustc puts behind a name.
            19
        } else if char.is_ascii_digit() {
            stripped.push('N');
            count(rest, |char| char.is_ascii_digit())
        } else if char.is_whitespace() {
            stripped.push(' ');
            count(rest, char::is_whitespace)
        } else {
            stripped.push(char);
            char.len_utf8()
        };
        rest = &rest[taken..];
    }
    // A path says where somebody keeps their files; its last part is the same everywhere.
    let words = stripped.split(' ').map(|word| match word.rfind('/') {
        Some(slash) if word.starts_with(['/', '.', '(']) || word.matches('/').count() > 1 => {
            &word[slash + 1..]
        }
        _ => word,
    });
    words.collect::<Vec<&str>>().join(" ").chars().take(WIDTH).collect()
}

/// Without the number of a frame: `12: `, `#12 `.
fn strip_frame(text: &str) -> &str {
    let number = text.strip_prefix('#').unwrap_or(text);
    let digits = count(number, |char| char.is_ascii_digit());
    let rest = number[digits..].trim_start_matches(':');
    if digits > 0 && rest.starts_with(' ') { rest.trim_start() } else { text }
}

/// The length in bytes of the beginning that is like that.
fn count(text: &str, like_that: impl Fn(char) -> bool) -> usize {
    text.find(|char| !like_that(char)).unwrap_or(text.len())
}

/// The name of a fault: equal for equal kind, target and normalised fingerprint.
pub fn fault(kind: &Kind, target: &str, fingerprint: &str) -> String {
    hash(&[kind.as_str(), target, &normalise(fingerprint)])
}

/// FNV-1a in 128 bits: the same on every machine and in every version, as names of directories
/// have to be.
pub(crate) fn hash(parts: &[&str]) -> String {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in parts.iter().flat_map(|part| part.bytes().chain([0])) {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_fault_has_the_same_name() {
        let table = [
            ("double free at 0x7f3c1200a0", "double free at 0xdeadbeef"),
            (
                "thread '<unnamed>' (12797) panicked at src/a.rs:7:5:",
                "thread '<unnamed>' (3) panicked at src/a.rs:71:15:",
            ),
            ("  3: flume::wait::h0123456789abcdef\n", "7: flume::wait::hfedcba9876543210"),
            (
                "#0  0x00007ff in list::Channel::drop () at /a/b/list.rs:12",
                "#1 0x01 in list::Channel::drop () at /x/y/z/list.rs:99",
            ),
            ("lost value 17 on channel 3", "lost   value 4\ton channel 0"),
            (
                "stack backtrace:\n 0: rust_begin_unwind\n 1: core::panicking::panic\n 2: kanal::send",
                "0: kanal::send",
            ),
            (
                "goroutine 7 [running]:\nmain.f(0x1)\n\t/home/a/x.go:3",
                "goroutine 18 [chan send]:\nmain.f(0xc0)\n\t/src/x.go:4",
            ),
            ("\n\na\nb\nc\nd\ne\nf\ng", "a\nb\nc\nd\ne\nf\nother"),
        ];
        for (one, other) in table {
            assert_eq!(normalise(one), normalise(other));
        }
    }

    #[test]
    fn different_faults_have_different_names() {
        let table = [
            ("crash", "x", "double free"),
            ("hang", "x", "double free"),
            ("crash", "y", "double free"),
            ("crash", "x", "invalid pointer"),
            ("crash", "x", ""),
        ];
        let names: std::collections::BTreeSet<String> = table
            .iter()
            .map(|(kind, target, text)| fault(&Kind::new(kind).expect("good"), target, text))
            .collect();
        assert_eq!(names.len(), table.len());
    }

    #[test]
    fn names_never_change() {
        // Directories of older versions would not be recognised.
        assert_eq!(hash(&["crash", "x"]), "357d1bed71659b58c929e3e8902fda80");
        assert_eq!(
            normalise("1: a::b at /c/d.rs:10:3\n\n2: 0x1f e"),
            "a::b at d.rs:N:N\nADDRESS e"
        );
    }

    #[test]
    fn any_text_can_be_normalised() {
        for text in ["", "ß::h", "0x", "::h123", "日本語 12", "#", "1:", "\u{0}\u{1b}[31m"] {
            assert!(normalise(text).len() <= 4 * WIDTH, "{text}");
        }
    }
}
