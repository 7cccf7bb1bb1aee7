//! README.md promises that two commands are enough. They stand in the fenced block after
//! `<!-- setup -->`, one runs Strait and the other the tests, and what they name exists.

use super::Complaint;
use super::house::{File, House};

const README: &str = "README.md";
const MARK: &str = "<!-- setup -->";
const RUN: &str = "cargo run --release -- ";
const TEST: &str = "cargo xtask test";
const CARGO_CONFIG: &str = ".cargo/config.toml";

pub fn check(house: &House) -> Vec<Complaint> {
    let Some(readme) = house.file(README) else {
        let what = "there is no README.md".into();
        return vec![Complaint { path: README.into(), line: 1, what, todo: "write it" }];
    };
    let Some((start, commands)) = marked_block(readme) else {
        let what = format!("no fenced block follows `{MARK}`");
        let todo = "mark the block that holds the two commands";
        return vec![readme.complain(1, what, todo)];
    };
    let mut complaints = Vec::new();
    let runs = commands.iter().filter(|(_, command)| command.starts_with(RUN)).count();
    let tests = commands.iter().filter(|(_, command)| *command == TEST).count();
    if commands.len() != 2 || runs != 1 || tests != 1 {
        let what = format!("the marked block is not one `{RUN}…` and one `{TEST}`");
        complaints.push(readme.complain(start, what, "keep set-up to these two commands"));
    }
    for (number, command) in &commands {
        for file in missing_files(house, command) {
            let what = format!("the command names `{file}`, which does not exist");
            complaints.push(readme.complain(*number, what, "name a file of the checkout"));
        }
    }
    if !house.file(CARGO_CONFIG).is_some_and(|config| config.text.contains("xtask = ")) {
        let what = format!("`{TEST}` needs the alias `xtask` in {CARGO_CONFIG}");
        complaints.push(readme.complain(start, what, "add the alias"));
    }
    complaints
}

/// The line of the mark and the lines of the fenced block after it, blank ones left out.
fn marked_block(readme: &File) -> Option<(usize, Vec<(usize, &str)>)> {
    let mut lines = (1..).zip(readme.text.lines());
    let (start, _) = lines.find(|(_, line)| line.trim() == MARK)?;
    let mut lines = lines.skip_while(|(_, line)| line.trim().is_empty());
    lines.next().filter(|(_, line)| line.starts_with("```"))?;
    let block = lines.take_while(|(_, line)| !line.starts_with("```"));
    let commands = block.map(|(number, line)| (number, line.trim()));
    Some((start, commands.filter(|(_, command)| !command.is_empty()).collect()))
}

/// Arguments that look like paths into the checkout and are none.
fn missing_files<'a>(house: &House, command: &'a str) -> impl Iterator<Item = &'a str> {
    let paths = command.split_whitespace().filter(|word| word.contains('/'));
    paths.filter(|path| house.file(path).is_none())
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    fn check(readme: &str, expected: &[&str]) {
        let files = [
            ("README.md", readme),
            (".cargo/config.toml", "[alias]\nxtask = \"run\"\n"),
            ("corpus/a.strait", ""),
        ];
        fixture::check(super::check, &files, expected);
    }

    #[test]
    fn two_commands_that_exist() {
        check(
            "# Strait\n\n<!-- setup -->\n\n```sh\ncargo run --release -- explore corpus/a.strait\n\n\
             cargo xtask test\n```\n\n```sh\ncargo xtask bench\n```\n",
            &[],
        );
    }

    #[test]
    fn a_third_command_or_another_one() {
        let expected =
            ["README.md:1: the marked block is not one `cargo run --release -- …` and one \
             `cargo xtask test`"];
        let run = "cargo run --release -- explore corpus/a.strait";
        check(&format!("<!-- setup -->\n```sh\n{run}\ncargo xtask test\nmake\n```"), &expected);
        check(&format!("<!-- setup -->\n```sh\n{run}\n```"), &expected);
        check(&format!("<!-- setup -->\n```sh\n{run}\ncargo test\n```"), &expected);
    }

    #[test]
    fn a_file_that_is_not_there() {
        check(
            "<!-- setup -->\n```sh\ncargo run --release -- explore corpus/b.strait\n\
             cargo xtask test\n```",
            &["README.md:3: the command names `corpus/b.strait`, which does not exist"],
        );
    }

    #[test]
    fn no_mark_no_readme_no_alias() {
        check("# Strait\n", &["README.md:1: no fenced block follows `<!-- setup -->`"]);
        fixture::check(super::check, &[], &["README.md:1: there is no README.md"]);
        let readme = "<!-- setup -->\n```sh\ncargo run --release -- help\ncargo xtask test\n```";
        fixture::check(
            super::check,
            &[("README.md", readme)],
            &["README.md:1: `cargo xtask test` needs the alias `xtask` in .cargo/config.toml"],
        );
    }
}
