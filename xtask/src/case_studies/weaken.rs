//! Weakened orderings: each Acquire, Release, AcqRel and SeqCst of a crate becomes Relaxed in turn, and its
//! loom tests say whether they notice.
//!
//! The copy of the sources is changed once: each ordering becomes a call that looks into the environment
//! which one is to be weak. So one build serves all of them. Orderings of fences stay, because there is no
//! relaxed fence.

use std::path::{Path, PathBuf};

/// The variable that says which ordering is weak.
pub const VARIABLE: &str = "STRAIT_WEAKENED";

/// The module that the changed crate gets.
const MODULE: &str = r#"
mod weakened {
    extern crate std;
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering;
    static CHOSEN: OnceLock<Option<usize>> = OnceLock::new();
    pub(crate) fn at(index: usize, order: Ordering) -> Ordering {
        let chosen = CHOSEN.get_or_init(|| std::env::var("STRAIT_WEAKENED").ok()?.parse().ok());
        if *chosen == Some(index) { Ordering::Relaxed } else { order }
    }
}
"#;

/// An ordering of a crate.
pub struct Place {
    /// The file and line.
    pub place: String,
    /// What it is.
    pub order: String,
}

/// Changes the sources of a crate below a folder. Gives the orderings in the order of their numbers.
pub fn change(folder: &Path) -> Result<Vec<Place>, String> {
    let mut places = Vec::new();
    for file in files(folder)? {
        let explain = |error| format!("{}: {error}", file.display());
        let text = std::fs::read_to_string(&file).map_err(explain)?;
        let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        let mut changed = changed(&text, &name, &mut places);
        if name == "src/lib.rs" {
            changed.push_str(MODULE);
        }
        std::fs::write(&file, changed).map_err(explain)?;
    }
    Ok(places)
}

/// The sources of the crate itself, without tests.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut folders = vec![folder.join("src")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let explain = |error| format!("{}: {error}", folder.display());
        for entry in std::fs::read_dir(&folder).map_err(explain)? {
            let path = entry.map_err(explain)?.path();
            let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
            match path.extension() {
                _ if is_test => {}
                Some(extension) if extension == "rs" => files.push(path),
                _ if path.is_dir() => folders.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

const ORDERS: [&str; 4] = ["Acquire", "Release", "AcqRel", "SeqCst"];

fn changed(text: &str, file: &str, places: &mut Vec<Place>) -> String {
    let mut result = String::new();
    for (number, line) in (1..).zip(text.lines()) {
        let start = line.trim_start();
        if start.starts_with("//") || start.starts_with("use ") || start.starts_with("pub use ") {
            result.push_str(line);
        } else {
            changed_line(line, &format!("{file}:{number}"), places, &mut result);
        }
        result.push('\n');
    }
    result
}

fn changed_line(line: &str, place: &str, places: &mut Vec<Place>, result: &mut String) {
    let mut rest = line;
    while let Some((start, order)) = next_order(rest) {
        let end = start + order.len();
        let before = &rest[..start];
        result.push_str(before);
        if before.ends_with("fence(") {
            result.push_str(order);
        } else {
            result.push_str(&format!("crate::weakened::at({}, {order})", places.len()));
            places.push(Place { place: place.to_owned(), order: order.to_owned() });
        }
        rest = &rest[end..];
    }
    result.push_str(rest);
}

/// The first ordering in a text, with its path if it has one.
fn next_order(text: &str) -> Option<(usize, &str)> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':';
    let found = ORDERS.iter().filter_map(|order| {
        text.match_indices(order).find_map(|(at, _)| {
            let start =
                text[..at].bytes().rposition(|byte| !is_part(byte)).map_or(0, |before| before + 1);
            let (path, end) = (&text[start..at], at + order.len());
            let ends = !text.as_bytes().get(end).is_some_and(|byte| is_part(*byte));
            let is_order =
                path.is_empty() || path == "Ordering::" || path.ends_with("atomic::Ordering::");
            (ends && is_order).then_some((start, &text[start..end]))
        })
    });
    found.min_by_key(|(start, _)| *start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orderings_become_calls() {
        let text = "use Ordering::Acquire;\n// Acquire\nx.swap(1, Ordering::AcqRel);\n\
                    y.compare_exchange(0, 1, SeqCst, Acquire);\nfence(Ordering::SeqCst);\nReleases;\n";
        let mut places = Vec::new();
        let changed = changed(text, "a.rs", &mut places);
        assert_eq!(
            changed,
            "use Ordering::Acquire;\n// Acquire\nx.swap(1, crate::weakened::at(0, Ordering::AcqRel));\n\
             y.compare_exchange(0, 1, crate::weakened::at(1, SeqCst), crate::weakened::at(2, Acquire));\n\
             fence(Ordering::SeqCst);\nReleases;\n"
        );
        assert_eq!(places[1].place, "a.rs:4");
    }
}
