//! What stands around the functions of programs: imports, the part that remembers what processes
//! saw, and a `main` for one program or for many.

use std::borrow::Cow;

use strait_calculus::Program;

use super::{Files, Naming, go, kotlin};
use crate::language::{Era, Language};

pub(super) const GO_MOD: &str = "module strait\n\ngo 1.13\n";
pub(super) const GO_RECORD: &str = include_str!("../../embedded/go/record.go");
pub(super) const GO_WATCH: &str = include_str!("../../embedded/go/watch.go");
const GO_ONCE: &str = include_str!("../../embedded/go/once.go");
const GO_BATCH: &str = include_str!("../../embedded/go/batch.go");

pub(super) const KOTLIN_RECORD: &str = include_str!("../../embedded/kotlin/Record.kt");
pub(super) const KOTLIN_WATCH: &str = include_str!("../../embedded/kotlin/Watch.kt");
const KOTLIN_LAUNCH: &str = include_str!("../../embedded/kotlin/Launch.kt");
const KOTLIN_ONCE: &str = include_str!("../../embedded/kotlin/Once.kt");
const KOTLIN_BATCH: &str = include_str!("../../embedded/kotlin/Batch.kt");

const CRYSTAL_RECORD: &str = include_str!("../../embedded/crystal/record.cr");
const CRYSTAL_ONCE: &str = include_str!("../../embedded/crystal/once.cr");
const CRYSTAL_BATCH: &str = include_str!("../../embedded/crystal/batch.cr");

const RUST_RECORD: &str = include_str!("../../embedded/rust/record.rs");
const RUST_ONCE: &str = include_str!("../../embedded/rust/once.rs");
const RUST_BATCH: &str = include_str!("../../embedded/rust/batch.rs");

/// An embedded file of Rust without the lines that say what it is: these may stand only at the
/// beginning of a file, and it goes into the middle of one.
fn body(text: &str) -> &str {
    let heading = text.lines().take_while(|line| line.starts_with("//!"));
    let length: usize = heading.map(|line| line.len() + 1).sum();
    text[length..].trim_start()
}

/// Programs of a batch with their functions.
type Written<'a> = [(Cow<'a, Program>, String)];

/// One program as a file of its own.
pub fn alone(language: Language, era: Era, program: &Program, functions: &str) -> String {
    match language {
        Language::Go => {
            let (once_imports, once) = split_go(GO_ONCE);
            let (record_imports, record) = split_go(GO_RECORD);
            let packages = [go::packages(program), once_imports, record_imports].concat();
            format!("package main\n\n{}{functions}\n{once}\n{record}", go_imports(packages))
        }
        Language::Kotlin => {
            let launch = launch(era);
            kotlin_file(era, functions, &[KOTLIN_ONCE, &launch, KOTLIN_RECORD])
        }
        Language::Crystal => format!("{functions}\n{CRYSTAL_RECORD}\n{CRYSTAL_ONCE}"),
        Language::Flix => flix_main(functions, &[Naming::Alone.main()]),
        Language::Rust => rust_file(functions, RUST_ONCE),
    }
}

/// Many programs as one unit.
pub fn together(language: Language, era: Era, programs: &Written<'_>) -> Files {
    let texts: Vec<&str> = programs.iter().map(|(_, text)| text.as_str()).collect();
    let texts = texts.join("\n");
    let names: Vec<String> =
        (0..programs.len()).map(|number| Naming::Numbered(number).main()).collect();
    let listed = |prefix: &str, suffix: &str| -> String {
        names.iter().map(|name| format!("{prefix}{name}{suffix}\n")).collect()
    };
    let files = match language {
        Language::Go => {
            let packages = programs.iter().flat_map(|(program, _)| go::packages(program)).collect();
            let list = format!("var programs = []func(*process){{\n{}}}\n", listed("\t", ","));
            let own = format!("package main\n\n{}{list}\n{texts}", go_imports(packages));
            vec![
                ("go.mod", GO_MOD.to_owned()),
                ("record.go", GO_RECORD.to_owned()),
                ("watch.go", GO_WATCH.to_owned()),
                ("batch.go", GO_BATCH.to_owned()),
                ("programs.go", own),
            ]
        }
        Language::Kotlin => {
            let branches: String = names
                .iter()
                .enumerate()
                .map(|(number, name)| format!("    {number} -> {name}(p)\n"))
                .collect();
            let list = format!(
                "const val PROGRAMS = {}\n\nsuspend fun perform(id: Int, p: Process) = when (id) {{\n{branches}    else -> Unit\n}}\n\n",
                names.len()
            );
            vec![
                ("Record.kt", KOTLIN_RECORD.to_owned()),
                ("Watch.kt", KOTLIN_WATCH.to_owned()),
                ("Launch.kt", watched_launch(era)),
                ("Batch.kt", KOTLIN_BATCH.to_owned()),
                ("Programs.kt", kotlin_file(era, &format!("{list}{texts}"), &[])),
            ]
        }
        Language::Crystal => {
            let list = format!("PROGRAMS = [\n{}]\n", listed("  ->", "(Actor),"));
            vec![("batch.cr", format!("{CRYSTAL_RECORD}\n{texts}\n{list}\n{CRYSTAL_BATCH}"))]
        }
        Language::Flix => vec![("src/Main.flix", flix_main(&texts, &names))],
        Language::Rust => {
            let list =
                format!("const PROGRAMS: &[fn(&mut Process)] = &[\n{}];\n", listed("    ", ","));
            vec![("src/main.rs", rust_file(&format!("{list}\n{texts}"), RUST_BATCH))]
        }
    };
    files.into_iter().map(|(name, content)| (name.to_owned(), content)).collect()
}

/// Splits a Go file into the packages it imports and what follows.
fn split_go(file: &'static str) -> (Vec<&'static str>, &'static str) {
    let body = |rest: &'static str| rest.trim_start();
    if let Some((_, rest)) = file.split_once("import (\n")
        && let Some((imports, rest)) = rest.split_once("\n)\n")
    {
        return (imports.lines().map(|line| line.trim().trim_matches('"')).collect(), body(rest));
    }
    match file.split_once("import \"").and_then(|(_, rest)| rest.split_once("\"\n")) {
        Some((package, rest)) => (vec![package], body(rest)),
        None => (vec![], file),
    }
}

fn go_imports(mut packages: Vec<&str>) -> String {
    packages.sort_unstable();
    packages.dedup();
    if packages.is_empty() {
        return String::new();
    }
    let lines: String = packages.iter().map(|name| format!("\t\"{name}\"\n")).collect();
    format!("import (\n{lines})\n\n")
}

/// How processes are started, in the words of the era.
fn launch(era: Era) -> String {
    match era {
        Era::Modern | Era::CoreAsync => KOTLIN_LAUNCH.to_owned(),
        Era::Classic => KOTLIN_LAUNCH.replace("@OptIn(DelicateCoroutinesApi::class)\n", ""),
        Era::Experimental => KOTLIN_LAUNCH
            .replace("@OptIn(DelicateCoroutinesApi::class)\n", "")
            .replace("kotlinx.coroutines", "kotlinx.coroutines.experimental")
            .replace("GlobalScope.launch(Dispatchers.Default)", "launch(CommonPool)"),
    }
}

/// The same, with exceptions told to who looks after the batch.
fn watched_launch(era: Era) -> String {
    let watched = "        try {\n            body(this@begin)\n        } catch (error: Throwable) {\n            Watch.failed(error)\n        }\n        Watch.moves.incrementAndGet()\n";
    launch(era).replace("        body(this@begin)\n", watched)
}

/// One Kotlin file of several parts, their imports at its head.
fn kotlin_file(era: Era, functions: &str, parts: &[&str]) -> String {
    let mut imports = kotlin::imports(era);
    let mut bodies = vec![functions.trim_end().to_owned()];
    for part in parts {
        let (own, rest): (Vec<&str>, Vec<&str>) =
            part.lines().partition(|line| line.starts_with("import "));
        imports.extend(own.into_iter().map(str::to_owned));
        bodies.push(rest.join("\n").trim().to_owned());
    }
    imports.sort_unstable();
    imports.dedup();
    format!("{}\n\n{}\n", imports.join("\n"), bodies.join("\n\n"))
}

fn rust_file(functions: &str, main: &str) -> String {
    let record = body(RUST_RECORD);
    let (head, rest) = record.split_once("\n/// Both ends").unwrap_or((record, ""));
    format!("{head}\n{functions}\n{}\n/// Both ends{rest}", body(main))
}

fn flix_main(functions: &str, names: &[String]) -> String {
    let calls: String = names
        .iter()
        .map(|name| format!("    {name}();\n    println(\"done {name}\");\n"))
        .collect();
    format!("{functions}\ndef main(): Unit \\ {{ Chan, NonDet, IO }} = {{\n{calls}    ()\n}}\n")
}
