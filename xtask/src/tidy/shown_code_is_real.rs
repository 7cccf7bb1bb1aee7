//! Code that a page shows as part of a file is in that file, word for word. Such a block has
//! `from=PATH` in its info string; a line `// …` in it stands for what is left out.

use super::Complaint;
use super::house::House;

const LEFT_OUT: &str = "// …";

pub fn check(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for page in house.files().filter(|file| file.path.ends_with(".md")) {
        for (line, path, code) in excerpts(&page.text) {
            let Some(file) = house.file(path) else {
                let what = format!("shows code from `{path}`, which is not there");
                complaints.push(page.complain(line, what, "name the file it is from"));
                continue;
            };
            let pieces = pieces(&code);
            if let Some(piece) = pieces.iter().find(|piece| !file.text.contains(piece.as_str())) {
                let first = piece.lines().next().unwrap_or_default().trim();
                let what = format!("shows code that is not in `{path}`, from `{first}` on");
                complaints.push(page.complain(line, what, "show it as it is there"));
            }
        }
    }
    complaints
}

/// Blocks with `from=PATH`: the line they begin at, the path and the lines inside.
fn excerpts(text: &str) -> Vec<(usize, &str, Vec<&str>)> {
    let mut found = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
        let inside: Vec<&str> = inside.collect();
        if let Some(path) = info.split_whitespace().find_map(|word| word.strip_prefix("from=")) {
            found.push((number, path, inside));
        }
    }
    found
}

/// What stands between the lines that stand for something left out.
fn pieces(code: &[&str]) -> Vec<String> {
    let pieces = code.split(|line| line.trim() == LEFT_OUT);
    pieces.map(|lines| lines.join("\n")).filter(|piece| !piece.trim().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    #[test]
    fn shown_code_is_compared_with_its_file() {
        let page = "```rust from=crates/a/src/lib.rs\nfn f() {\n// …\n    g()\n}\n```\n\
                    ```rust\nfn nowhere() {}\n```\n\
                    ```rust from=crates/a/src/lib.rs\n// …\nfn h() {}\n```\n\
                    ```rust from=crates/gone.rs\nfn f() {}\n```\n";
        let files =
            [("docs/a.md", page), ("crates/a/src/lib.rs", "fn f() {\n    let x;\n    g()\n}\n")];
        let expected = [
            "docs/a.md:10: shows code that is not in `crates/a/src/lib.rs`, from `fn h() {}` on",
            "docs/a.md:14: shows code from `crates/gone.rs`, which is not there",
        ];
        fixture::check(super::check, &files, &expected);
    }
}
