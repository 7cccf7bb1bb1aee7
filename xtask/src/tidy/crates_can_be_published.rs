//! Every crate carries what a registry shows of it and what a package needs: a description, a
//! licence with its texts, a README, keywords, categories and the oldest compiler.

use super::Complaint;
use super::house::House;

/// What the manifest says itself or takes from the workspace.
const FIELDS: [&str; 7] =
    ["description", "version", "license", "rust-version", "readme", "keywords", "categories"];
/// What lies beside the manifest. The licences are links to those at the root; cargo packs the texts.
const FILES: [&str; 3] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

pub fn check(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for name in house.crates() {
        let Some(manifest) = house.file(&format!("crates/{name}/Cargo.toml")) else { continue };
        let package = manifest.text.split("\n[").next().unwrap_or_default();
        let has = |field: &str| {
            package
                .lines()
                .filter_map(|line| line.split(['.', ' ', '=']).next())
                .any(|key| key == field)
        };
        for field in FIELDS.into_iter().filter(|field| !has(field)) {
            let what = format!("the package has no `{field}`");
            complaints.push(manifest.complain(1, what, "say it in the manifest"));
        }
        for file in FILES {
            if house.file(&format!("crates/{name}/{file}")).is_none() {
                let what = format!("the package has no {file}");
                let todo = "write the README; link the licence: ln -s ../../LICENSE-MIT";
                complaints.push(manifest.complain(1, what, todo));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    const COMPLETE: &str = "[package]\nname = \"strait-a\"\ndescription = \"A\"\n\
                            version.workspace = true\nlicense.workspace = true\n\
                            rust-version.workspace = true\nreadme = \"README.md\"\n\
                            keywords = [\"a\"]\ncategories = [\"b\"]\n";

    #[test]
    fn a_crate_that_is_complete() {
        let files = [
            ("crates/a/Cargo.toml", COMPLETE),
            ("crates/a/README.md", "A"),
            ("crates/a/LICENSE-MIT", "MIT"),
            ("crates/a/LICENSE-APACHE", "Apache"),
        ];
        fixture::check(super::check, &files, &[]);
    }

    #[test]
    fn what_is_missing_is_named() {
        // A key of another table is none of the package.
        let manifest = COMPLETE.replace("keywords = [\"a\"]\n", "") + "\n[lib]\nkeywords = 1\n";
        let files = [
            ("crates/a/Cargo.toml", manifest.as_str()),
            ("crates/a/LICENSE-MIT", "MIT"),
            ("crates/a/LICENSE-APACHE", "Apache"),
        ];
        let expected = [
            "crates/a/Cargo.toml:1: the package has no `keywords`",
            "crates/a/Cargo.toml:1: the package has no README.md",
        ];
        fixture::check(super::check, &files, &expected);
    }
}
