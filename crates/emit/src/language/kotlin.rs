//! Kotlin: its row of the table of languages, what stands around its functions, and its interpreter.

use strait_generate::Capabilities;

use super::{Batch, Description, Era, Parts, with_ways_out};
use crate::source::{Files, kotlin};

/// Kotlin.
pub(super) const KOTLIN: Description = Description {
    name: "kotlin",
    title: "Kotlin",
    about: "Kotlin with kotlinx.coroutines",
    extension: "kt",
    comment: "//",
    // Since 1.7 a select may not name one channel twice; `build::jvm` knows the versions.
    capabilities: |common| Capabilities {
        unbounded: true,
        close: true,
        same_channel_twice: false,
        ..with_ways_out(common)
    },
    crashes: &[
        "Internal error in",
        "exception: java.lang.",
        "Exception while generating code",
        "Backend Internal error",
        "Frontend Internal error",
        "java.lang.StackOverflowError",
        "java.lang.VerifyError",
        "Exception in thread \"main\"",
    ],
    functions: kotlin::functions,
    alone: |_, functions, era| file(era, functions, &[ONCE, &launch(era), RECORD]),
    together,
};

const RECORD: &str = include_str!("../../embedded/kotlin/Record.kt");
const WATCH: &str = include_str!("../../embedded/kotlin/Watch.kt");
const LAUNCH: &str = include_str!("../../embedded/kotlin/Launch.kt");
const ONCE: &str = include_str!("../../embedded/kotlin/Once.kt");
const BATCH: &str = include_str!("../../embedded/kotlin/Batch.kt");

/// The interpreter, with the channels of an era: a small program that reads plans and reports what
/// processes saw.
pub(crate) fn interpreter(era: Era) -> Files {
    let channels = match era {
        Era::Experimental => include_str!("../../embedded/kotlin/eras/Experimental.kt"),
        Era::Classic => include_str!("../../embedded/kotlin/eras/Classic.kt"),
        Era::Modern => include_str!("../../embedded/kotlin/eras/Modern.kt"),
        Era::CoreAsync => include_str!("../../embedded/kotlin/eras/CoreAsync.kt"),
    };
    super::files(&[
        ("Record.kt", RECORD),
        ("Watch.kt", WATCH),
        ("Plan.kt", include_str!("../../embedded/kotlin/Plan.kt")),
        ("Interpreter.kt", include_str!("../../embedded/kotlin/Interpreter.kt")),
        ("Channels.kt", channels),
    ])
}

fn together(batch: &Batch<'_>) -> Parts {
    let names = batch.names();
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
        ("Record.kt", RECORD.to_owned()),
        ("Watch.kt", WATCH.to_owned()),
        ("Launch.kt", watched_launch(batch.era)),
        ("Batch.kt", BATCH.to_owned()),
        ("Programs.kt", file(batch.era, &format!("{list}{}", batch.text()), &[])),
    ]
}

/// How processes are started, in the words of the era.
fn launch(era: Era) -> String {
    match era {
        Era::Modern | Era::CoreAsync => LAUNCH.to_owned(),
        Era::Classic => LAUNCH.replace("@OptIn(DelicateCoroutinesApi::class)\n", ""),
        Era::Experimental => LAUNCH
            .replace("@OptIn(DelicateCoroutinesApi::class)\n", "")
            .replace("kotlinx.coroutines", "kotlinx.coroutines.experimental")
            .replace("GlobalScope.launch(Dispatchers.Default)", "launch(CommonPool)"),
    }
}

/// The same, with exceptions reported to the part that watches the batch.
fn watched_launch(era: Era) -> String {
    let watched = "        try {\n            body(this@begin)\n        } catch (error: Throwable) {\n            Watch.failed(error)\n        }\n        Watch.moves.incrementAndGet()\n";
    launch(era).replace("        body(this@begin)\n", watched)
}

/// One Kotlin file of several parts, their imports at its head.
fn file(era: Era, functions: &str, parts: &[&str]) -> String {
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
