//! The pages of `docs/` as a book in `target/book`.
//!
//! In: the pages, and mdBook, which cargo brings where it is not installed. Out: HTML in which
//! every link leads somewhere. Pages link to sources of the checkout, which are no part of a book:
//! these are copied into the book's folder `source`, and the links follow them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::step::Outcome;
use crate::workspace::Workspace;

/// Builds the book and checks it.
pub fn build(workspace: &Workspace) -> Outcome {
    let mdbook = match workspace.tool("mdbook") {
        Ok(mdbook) => mdbook,
        Err(why) => return Outcome::Skipped(why),
    };
    let outcome = workspace.run(&mdbook, &["build", "docs"]);
    if outcome != Outcome::Passed {
        return outcome;
    }
    let book = workspace.root().join("target/book");
    let mut links = Links { root: workspace.root(), book: &book, dead: Vec::new(), pages: 0 };
    if let Err(message) = links.follow_all() {
        return Outcome::Failed(message);
    }
    println!("{} pages: {}", links.pages, book.join("index.html").display());
    if links.dead.is_empty() {
        return Outcome::Passed;
    }
    for link in &links.dead {
        println!("{link}");
    }
    Outcome::Failed(format!("{} links lead nowhere, shown above", links.dead.len()))
}

struct Links<'a> {
    root: &'a Path,
    book: &'a Path,
    dead: Vec<String>,
    pages: usize,
}

impl Links<'_> {
    fn follow_all(&mut self) -> Result<(), String> {
        for page in html_files(self.book)? {
            let text = fs::read_to_string(&page).map_err(|error| because(&page, &error))?;
            let changed = self.follow(&page, &text)?;
            fs::write(&page, changed).map_err(|error| because(&page, &error))?;
            self.pages += 1;
        }
        Ok(())
    }

    /// The page with its links to sources led to copies of them.
    fn follow(&mut self, page: &Path, text: &str) -> Result<String, String> {
        const HREF: &str = "href=\"";
        let mut changed = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(HREF) {
            let (link, behind) = after.split_once('"').unwrap_or((after, ""));
            changed.push_str(before);
            changed.push_str(HREF);
            changed.push_str(&self.led(page, link)?);
            changed.push('"');
            rest = behind;
        }
        changed.push_str(rest);
        Ok(changed)
    }

    fn led(&mut self, page: &Path, link: &str) -> Result<String, String> {
        let (path, heading) = link.split_once('#').unwrap_or((link, ""));
        // Addresses of other sites, and the base of the page for addresses that are not there.
        if path.is_empty() && heading.is_empty() || link.contains(':') || link.starts_with('/') {
            return Ok(link.to_string());
        }
        let folder = page.parent().unwrap_or(self.book);
        // A text of the checkout's root that a page takes in calls the pages `docs/…`.
        let called = path.strip_prefix("docs/").filter(|name| self.book.join(name).exists());
        if let Some(name) = called.filter(|_| folder == self.book && !folder.join(path).exists()) {
            let renamed = link.replacen(path, name, 1);
            return self.led(page, &renamed);
        }
        let goal = if path.is_empty() { page.to_path_buf() } else { plain(&folder.join(path)) };
        if goal.starts_with(self.book) {
            if !goal.exists() || !has_heading(&goal, heading) {
                self.dead.push(format!("{}: `{link}`", shown(self.book, page)));
            }
            return Ok(link.to_string());
        }
        self.source(page, link, path)
    }

    /// Copies what a page says about the checkout beside the book, and gives the link to the copy.
    fn source(&mut self, page: &Path, link: &str, path: &str) -> Result<String, String> {
        let inside = page.strip_prefix(self.book).unwrap_or(page);
        let in_docs = self.root.join("docs").join(inside);
        let goal = plain(&in_docs.parent().unwrap_or(self.root).join(path));
        let original = [goal.clone(), goal.with_extension("md")];
        let Some(original) = original.iter().find(|original| original.exists()) else {
            self.dead.push(format!("{}: `{link}`", shown(self.book, page)));
            return Ok(link.to_string());
        };
        let name = original.strip_prefix(self.root).map_err(|error| error.to_string())?;
        let mut copy = self.book.join("source").join(name);
        if original.is_dir() {
            copy = copy.join("index.html");
            let listed = listing(original, name)?;
            place(&copy, listed.as_bytes())?;
            for file in files(original)? {
                let copied = copy.with_file_name(file.file_name().unwrap_or_default());
                place(&copied, &fs::read(&file).map_err(|error| because(&file, &error))?)?;
            }
        } else {
            place(&copy, &fs::read(original).map_err(|error| because(original, &error))?)?;
        }
        let up = "../".repeat(inside.components().count() - 1);
        Ok(format!("{up}{}", shown(self.book, &copy)))
    }
}

/// A folder as a page of links.
fn listing(folder: &Path, name: &Path) -> Result<String, String> {
    let mut page =
        format!("<!DOCTYPE html>\n<title>{0}</title>\n<h1>{0}</h1>\n<ul>\n", name.display());
    for file in files(folder)? {
        let name = file.file_name().unwrap_or_default().display().to_string();
        page.push_str(&format!("<li><a href=\"{name}\">{name}</a></li>\n"));
    }
    page.push_str("</ul>\n");
    Ok(page)
}

/// The files directly in a folder.
fn files(folder: &Path) -> Result<BTreeSet<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| because(folder, &error))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    Ok(paths.filter(|path| path.is_file()).collect())
}

/// Every page below a folder, but for the copies of sources.
fn html_files(folder: &Path) -> Result<BTreeSet<PathBuf>, String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| because(&folder, &error))?;
        for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
            if path.is_dir() && path.file_name().is_some_and(|name| name != "source") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                found.insert(path);
            }
        }
    }
    Ok(found)
}

fn has_heading(page: &Path, heading: &str) -> bool {
    let mark = format!("id=\"{heading}\"");
    heading.is_empty() || fs::read_to_string(page).is_ok_and(|text| text.contains(&mark))
}

fn place(path: &Path, contents: &[u8]) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|error| because(folder, &error))?;
    fs::write(path, contents).map_err(|error| because(path, &error))
}

/// The path without `..` in it.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

fn shown(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

fn because(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_headings_and_copies_of_sources() {
        let root = std::env::temp_dir().join(format!("strait-xtask-book-{}", std::process::id()));
        let book = root.join("target/book");
        let page = "<a href=\"b.html#end\"><a href=\"../../src/a.rs\"><a href=\"gone.html\">\
                    <a href=\"b.html#gone\"><a href=\"https://example.org/\"><a href=\"../../none.rs\">";
        place(&root.join("docs/src/a.rs"), b"not this one").unwrap();
        place(&root.join("src/a.rs"), b"fn a() {}").unwrap();
        place(&book.join("deep/a.html"), page.as_bytes()).unwrap();
        place(&book.join("deep/b.html"), b"<h2 id=\"end\">").unwrap();
        let mut links = Links { root: &root, book: &book, dead: Vec::new(), pages: 0 };
        links.follow_all().unwrap();
        let dead: Vec<&str> = links.dead.iter().map(String::as_str).collect();
        let expected = ["`gone.html`", "`b.html#gone`", "`../../none.rs`"];
        assert_eq!(dead, expected.map(|link| format!("deep/a.html: {link}")));
        let changed = fs::read_to_string(book.join("deep/a.html")).unwrap();
        assert!(changed.contains("href=\"../source/src/a.rs\""), "{changed}");
        let copy = fs::read_to_string(book.join("source/src/a.rs")).unwrap();
        assert_eq!(copy, "fn a() {}");
        fs::remove_dir_all(&root).unwrap();
    }
}
