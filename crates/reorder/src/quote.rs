//! Lines of the user's own source, quoted around the places of a finding while the source is at hand. The places
//! come from the run of a program, which may have written anything, so only Go files of the module are read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path};

use serde_json::{Value, json};

/// The most places that are quoted.
const PLACES: usize = 6;
/// Lines before and after the place.
const AROUND: usize = 3;
/// The longest file that is read, and the longest line that is kept.
const LONGEST_FILE: u64 = 4 << 20;
const LONGEST_LINE: usize = 240;

/// Files of a module that were read.
pub struct Quotes<'a> {
    base: &'a Path,
    files: BTreeMap<String, Option<Vec<String>>>,
}

impl<'a> Quotes<'a> {
    /// Of a module.
    pub fn new(base: &'a Path) -> Self {
        Quotes { base, files: BTreeMap::new() }
    }

    /// A line, without the space around it; the file is relative to the module.
    pub fn line(&mut self, file: &str, line: u32) -> Option<String> {
        let lines = self.lines(file)?;
        let line = lines.get((line as usize).checked_sub(1)?)?;
        Some(line.trim().to_owned()).filter(|line| !line.is_empty())
    }

    /// Places as `finding.json` keeps them: the lines around each.
    pub fn around(&mut self, places: &[String]) -> Value {
        let mut quoted = Vec::new();
        for place in places.iter().take(PLACES) {
            let Some((file, number)) = place.rsplit_once(':') else { continue };
            let Ok(number) = number.parse::<usize>() else { continue };
            let Some(lines) = self.lines(file).filter(|lines| (1..=lines.len()).contains(&number))
            else {
                continue;
            };
            let first = number.saturating_sub(AROUND).max(1);
            let last = (number + AROUND).min(lines.len());
            let text = &lines[first - 1..last];
            quoted.push(json!({ "place": place, "first": first, "marked": number, "lines": text }));
        }
        Value::Array(quoted)
    }

    fn lines(&mut self, file: &str) -> Option<&[String]> {
        let base = self.base;
        let lines = self.files.entry(file.to_owned()).or_insert_with(|| read(base, file));
        lines.as_deref()
    }
}

/// The lines of a Go file inside the module.
fn read(base: &Path, file: &str) -> Option<Vec<String>> {
    let relative = Path::new(file);
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_)));
    if !inside || relative.extension()? != "go" {
        return None;
    }
    // No link may lead out of the module.
    let (base, path) = (base.canonicalize().ok()?, base.join(relative).canonicalize().ok()?);
    if !path.starts_with(&base) || !path.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(LONGEST_FILE).read_to_string(&mut text).ok()?;
    let cut = |line: &str| line.chars().take(LONGEST_LINE).collect::<String>();
    Some(text.lines().map(cut).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_go_files_of_the_module_are_quoted() {
        let folder = std::env::temp_dir().join(format!("strait-quote-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("m")).expect("a folder");
        let write =
            |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
        write("m/a.go", "package m\n\nfunc f() {\n\tch <- 1\n}\n");
        write("m/secret.txt", "secret\n");
        write("outside.go", "secret\n");
        let module = folder.join("m");
        let mut quotes = Quotes::new(&module);
        assert_eq!(quotes.line("a.go", 4).as_deref(), Some("ch <- 1"));
        for (file, line) in
            [("a.go", 0), ("a.go", 99), ("secret.txt", 1), ("../outside.go", 1), ("/etc/passwd", 1)]
        {
            assert_eq!(quotes.line(file, line), None, "{file}:{line}");
        }
        let places = ["a.go:4".to_owned(), "../outside.go:1".to_owned(), "a.go:99".to_owned()];
        let quoted = quotes.around(&places);
        assert_eq!(quoted.as_array().map(Vec::len), Some(1));
        assert_eq!((&quoted[0]["first"], &quoted[0]["marked"]), (&json!(1), &json!(4)));
        assert_eq!(quoted[0]["lines"][3], "\tch <- 1");
        std::fs::remove_dir_all(folder).expect("it was made here");
    }
}
