//! What is in the tree is finished: no ignored tests, no placeholders, no code kept although
//! nothing uses it, no test that is content with any panic.

use super::Complaint;
use super::code;
use super::house::House;

const PLACEHOLDERS: [&str; 2] = ["todo!", "unimplemented!"];

pub fn check(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in house.rust_files() {
        for placeholder in PLACEHOLDERS {
            for at in code::occurrences(&file.code, placeholder) {
                let what = format!("`{placeholder}` stands for missing code");
                complaints.push(file.complain_at(at, what, "write it, or leave the item out"));
            }
        }
        for (at, attribute) in code::attributes(&file.code) {
            if let Some((what, todo)) = objection(&attribute) {
                complaints.push(file.complain_at(at, what, todo));
            }
        }
    }
    complaints
}

/// What is wrong with an attribute, given its inside without white space.
fn objection(attribute: &str) -> Option<(String, &'static str)> {
    let words = || attribute.split(|char: char| !char.is_alphanumeric() && char != '_');
    let conditional = attribute.starts_with("cfg_attr(");
    if attribute.starts_with("ignore") || conditional && words().any(|word| word == "ignore") {
        return Some(("ignores a test".into(), "repair the test or remove it"));
    }
    if attribute == "should_panic" {
        let todo = "say which one: `#[should_panic(expected = \"…\")]`";
        return Some(("is content with any panic".into(), todo));
    }
    let silences = words().any(|word| word == "allow" || word == "expect");
    let unused = |word: &&str| *word == "dead_code" || word.starts_with("unused");
    words()
        .find(unused)
        .filter(|_| silences)
        .map(|lint| (format!("silences `{lint}`"), "remove what is not used"))
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    fn check(text: &str, expected: &[&str]) {
        fixture::check(super::check, &[("crates/a/src/lib.rs", text)], expected);
    }

    #[test]
    fn placeholders_are_found() {
        check("fn f() { todo!() }", &["crates/a/src/lib.rs:1: `todo!` stands for missing code"]);
        check(
            "fn f() {\n    std::unimplemented!(\"later\")\n}",
            &["crates/a/src/lib.rs:2: `unimplemented!` stands for missing code"],
        );
    }

    #[test]
    fn ignored_tests_and_bare_panics_are_found() {
        check("#[test]\n#[ignore]\nfn f() {}", &["crates/a/src/lib.rs:2: ignores a test"]);
        check("#[ignore = \"slow\"]\nfn f() {}", &["crates/a/src/lib.rs:1: ignores a test"]);
        check("#[cfg_attr(miri, ignore)]\nfn f() {}", &["crates/a/src/lib.rs:1: ignores a test"]);
        check("#[should_panic]\nfn f() {}", &["crates/a/src/lib.rs:1: is content with any panic"]);
    }

    #[test]
    fn silenced_lints_about_unused_code_are_found() {
        check("#![allow(dead_code)]", &["crates/a/src/lib.rs:1: silences `dead_code`"]);
        check(
            "\n#[allow(\n    clippy::all,\n    unused_variables,\n)]\nfn f() {}",
            &["crates/a/src/lib.rs:2: silences `unused_variables`"],
        );
        check("#[expect(unused)]\nfn f() {}", &["crates/a/src/lib.rs:1: silences `unused`"]);
    }

    #[test]
    fn words_in_texts_and_other_attributes_are_left_alone() {
        check(
            "// todo!() and #[ignore] in a comment\n\
             const A: &str = \"#[allow(dead_code)] unimplemented!()\";\n\
             #[should_panic(expected = \"closed\")]\n\
             #[allow(clippy::too_many_lines, reason = \"unused to it\")]\n\
             #[must_use]\n\
             fn f() { let ignored = x.expect(unused()); let todo = 1; }",
            &[],
        );
    }
}
