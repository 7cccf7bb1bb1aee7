//! A page of the book as what a reader does with it.
//!
//! In: the text of a page. Out: in the order of the page, the files that the reader writes and the
//! commands that the reader gives, each with its line. Files are fenced blocks whose info string
//! has `name=PATH`; commands stand in blocks of the language `console`, after `$ `, continued after
//! `> `; `? 1` says that the exit code is 1, and the lines up to the next command are what is seen.

/// One thing that a reader does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Deed {
    /// Write a file.
    Write {
        /// Where the block begins.
        line: usize,
        /// Relative to the folder that the page starts in.
        path: String,
        /// The whole file.
        text: String,
    },
    /// Give a command.
    Run {
        /// Where the command begins.
        line: usize,
        /// What is typed.
        command: String,
        /// The exit code that the page promises.
        exit: i32,
        /// What is seen, with the wildcards of [`super::expected`].
        output: Vec<String>,
    },
}

/// What a reader of `text` does.
pub fn deeds(text: &str) -> Result<Vec<Deed>, String> {
    let mut deeds = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((opened, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let mut block = Vec::new();
        loop {
            match lines.next() {
                Some((_, "```")) => break,
                Some(inside) => block.push(inside),
                None => return Err(format!("the block of line {opened} has no end")),
            }
        }
        let mut words = info.split_whitespace();
        if words.next() == Some("console") {
            deeds.extend(commands(&block)?);
        } else if let Some(path) = words.find_map(|word| word.strip_prefix("name=")) {
            let text = block.iter().map(|(_, line)| format!("{line}\n")).collect();
            deeds.push(Deed::Write { line: opened, path: path.into(), text });
        }
    }
    Ok(deeds)
}

fn commands(block: &[(usize, &str)]) -> Result<Vec<Deed>, String> {
    let mut deeds: Vec<Deed> = Vec::new();
    for (number, text) in block {
        if let Some(typed) = text.strip_prefix("$ ") {
            let (command, output) = (typed.to_string(), Vec::new());
            deeds.push(Deed::Run { line: *number, command, exit: 0, output });
            continue;
        }
        let Some(Deed::Run { command, exit, output, .. }) = deeds.last_mut() else {
            return Err(format!("line {number} comes before any command of its block"));
        };
        let code = text.strip_prefix("? ").and_then(|code| code.parse().ok());
        match (text.strip_prefix("> "), code) {
            (Some(more), _) if output.is_empty() => {
                command.push('\n');
                command.push_str(more);
            }
            (_, Some(code)) if output.is_empty() => *exit = code,
            _ => output.push(text.trim_end().to_string()),
        }
    }
    Ok(deeds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: usize, command: &str, exit: i32, output: &[&str]) -> Deed {
        let output = output.iter().map(ToString::to_string).collect();
        Deed::Run { line, command: command.into(), exit, output }
    }

    #[test]
    fn files_and_commands_in_the_order_of_the_page() {
        let page = "# First\n```go name=a/main.go\npackage main\n```\nThen\n\
                    ```console\n$ go run ./a\n? 1\nno\n\n$ cat <<END\n> x\n> END\nx\n```\n\
                    ```sh\nnot run\n```\n";
        let text = "package main\n".into();
        let expected = vec![
            Deed::Write { line: 2, path: "a/main.go".into(), text },
            run(7, "go run ./a", 1, &["no", ""]),
            run(11, "cat <<END\nx\nEND", 0, &["x"]),
        ];
        assert_eq!(deeds(page), Ok(expected));
    }

    #[test]
    fn pages_that_cannot_be_followed() {
        let no_end = deeds("text\n```console\n$ true\n");
        assert_eq!(no_end, Err("the block of line 2 has no end".into()));
        let no_command = deeds("```console\nseen\n```\n");
        assert_eq!(no_command, Err("line 2 comes before any command of its block".into()));
    }
}
