//! Every relative link of a page leads to a file of the checkout, and to a heading that is there.

use super::Complaint;
use super::house::{File, House};

pub fn check(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for page in house.files().filter(|file| file.path.ends_with(".md")) {
        for (number, link) in links(&page.text) {
            if let Some(what) = problem(house, page, link) {
                let todo = "correct the link, or the name it leads to";
                complaints.push(page.complain(number, what, todo));
            }
        }
    }
    complaints
}

/// Targets of `[text](target)` with their lines; code is no text.
fn links(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut fenced) = (Vec::new(), false);
    for (line, number) in text.lines().zip(1..) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let targets = line.match_indices("](").filter(|(at, _)| !is_code(line, *at));
        let targets = targets.filter_map(|(at, mark)| line[at + mark.len()..].split_once(')'));
        found.extend(targets.map(|(target, _)| (number, target)));
    }
    found
}

/// Does the place stand between backticks?
fn is_code(line: &str, at: usize) -> bool {
    line[..at].matches('`').count() % 2 == 1
}

fn problem(house: &House, page: &File, link: &str) -> Option<String> {
    // Names of Rust items are for rustdoc to follow.
    if link.contains("://") || link.starts_with("mailto:") || link.contains("::") {
        return None;
    }
    let (path, heading) = link.split_once('#').map_or((link, None), |(path, to)| (path, Some(to)));
    let place = if path.is_empty() { page.path.clone() } else { resolve(&page.path, path) };
    let place = place.trim_end_matches('/');
    let Some(file) = house.file(place) else {
        let is_folder = house.files().any(|file| file.is_in(place));
        return (!is_folder).then(|| format!("links to `{link}`, which is not there"));
    };
    let heading = heading.filter(|_| place.ends_with(".md"))?;
    let is_there = file.text.lines().any(|line| {
        line.starts_with('#') && anchor(line.trim_start_matches('#').trim()) == heading
    });
    (!is_there).then(|| format!("links to `{link}`, a heading that is not there"))
}

/// `docs/a.md` and `../b.md` give `b.md`.
fn resolve(page: &str, path: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// A heading as links name it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|char| char.is_alphanumeric() || " -_".contains(*char));
    kept.map(|char| if char == ' ' { '-' } else { char.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    #[test]
    fn links_are_followed() {
        let page = "[a](b.md) and [`code`](../README.md#what-there-is), [here](#the-end)\n\
            [folder](../crates) [web](https://example.org/x)\n```text\n[not](a/link)\n```\n\
            `[nor](this)`\n# The end\n[gone](gone.md) [part](b.md#missing)\n";
        let files = [
            ("README.md", "## What there is\n"),
            ("docs/a.md", page),
            ("docs/b.md", "# B\n"),
            ("crates/x/Cargo.toml", ""),
        ];
        let expected = [
            "docs/a.md:8: links to `gone.md`, which is not there",
            "docs/a.md:8: links to `b.md#missing`, a heading that is not there",
        ];
        fixture::check(super::check, &files, &expected);
    }
}
