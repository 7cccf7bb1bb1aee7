//! The programs that are kept: files in `corpus/go-differential`, each a Go test package whose
//! header states the truth.

use std::fs;
use std::path::{Path, PathBuf};

use strait_toolchain::Scratch;

use crate::error::Error;
use crate::go::{GO_MOD, Observation, write};
use crate::judge::{Judged, Question};
use crate::print::{condition, tests_file};
use crate::tools::Tools;
use crate::tree::Program;
use crate::verifier::{Verdict, entries};

/// How the names of the files end.
const ENDING: &str = ".go.txt";

/// A file of the corpus.
#[derive(Clone, Debug)]
pub struct CorpusFile {
    /// Its name without the ending.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The beginning of a header line that marks a program about which the verifier is still wrong.
const OPEN: &str = "// Open: ";

impl CorpusFile {
    /// Whether the verifier is known to be wrong about it.
    pub fn is_open(&self) -> bool {
        self.text.lines().any(|line| line.starts_with(OPEN))
    }
}

/// The files of the corpus, by name.
pub fn read_corpus(folder: &Path) -> Result<Vec<CorpusFile>, Error> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::file(folder))? {
        let path: PathBuf = entry.map_err(Error::file(folder))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        if let Some(name) = name.as_deref().and_then(|name| name.strip_suffix(ENDING)) {
            let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
            files.push(CorpusFile { name: name.into(), text });
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// The text of a corpus file for a judged program.
pub fn corpus_text(judged: &Judged) -> String {
    let Judged { program, observation, questions, category, .. } = judged;
    let questions: Vec<Question> = questions.iter().map(|(one, _)| one.clone()).collect();
    let header = format!(
        "// {}\n// Gadgets: {}.\n{OPEN}the verifier is still wrong about this program ({category}).\n",
        truth(program, observation),
        program.gadgets.join(" ")
    );
    let tests = tests_file(program, "differential", "", &questions);
    format!("{header}{tests}\nfunc block() {{ <-make(chan int) }}\n")
}

/// What Go does, as a sentence.
fn truth(program: &Program, observation: &Observation) -> String {
    if let Some(message) = &observation.misuse {
        return format!("Go can panic: {message}. TestBlocks must not be proved.");
    }
    if observation.hangs {
        return "Go can block forever. TestBlocks must not be proved.".into();
    }
    if observation.leaks {
        return "A goroutine can stay blocked forever. TestBlocks must not be proved.".into();
    }
    if observation.results.is_empty() {
        let message = observation.panics.as_deref().unwrap_or("a panic");
        return format!("Go panics: {message}. TestUnreachable has no violation.");
    }
    let results: Vec<String> =
        observation.results.iter().map(|result| condition(program, result)).collect();
    format!(
        "Go ends with {}. TestOccurs must not be proved, TestOther has no violation.",
        results.join(", or with ")
    )
}

/// Checks files against the verifier: a line for each statement that is wrong.
pub fn check_corpus(tools: &Tools, files: &[CorpusFile]) -> Result<Vec<String>, Error> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let scratch = Scratch::new("extractfuzz").map_err(Error::file(std::env::temp_dir()))?;
    write(&scratch.path().join("go.mod"), GO_MOD)?;
    for file in files {
        let folder = scratch.path().join(&file.name);
        fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        write(&folder.join("program_test.go"), &file.text)?;
        write(&folder.join("package.go"), "package differential\n")?;
    }
    let answers = entries(tools, scratch.path(), "./...")?;
    let mut wrong = Vec::new();
    for (entry, answer) in &answers {
        let must_block = entry.contains(".TestOccurs") || entry.contains(".TestBlocks");
        if must_block && answer.verdict == Verdict::Yes {
            wrong.push(format!("{entry}: wrong proof"));
        }
        if !must_block && answer.verdict == Verdict::No && !answer.may_do_more {
            wrong.push(format!("{entry}: false alarm: {}", answer.why));
        }
    }
    wrong.extend(files.iter().filter_map(|file| {
        let found = answers.keys().any(|entry| entry.contains(&format!("/{}.", file.name)));
        (!found).then(|| format!("{}: the verifier found no entry", file.name))
    }));
    wrong.sort();
    Ok(wrong)
}
