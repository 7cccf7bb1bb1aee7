//! The programs that are kept: files in `corpus/go-differential`, each a Go test package whose
//! header states the truth.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use strait_toolchain::Scratch;

use crate::error::Error;
use crate::go::{GO_MOD, Observation, write};
use crate::judge::{Judged, Question};
use crate::print::{condition, tests_file};
use crate::tools::Tools;
use crate::tree::Program;
use crate::verifier::{Answer, LIMITS, Verdict, WALL, entries};

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

/// The beginning of a header line that marks a program which the verifier may leave unknown.
const UNKNOWN: &str = "// Unknown: ";

/// What the verifier must say about a file of the corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A violation of every test that blocks, and a proof of every other test.
    Exact,
    /// No wrong proof and no false alarm; unknown is allowed.
    NotWrong,
}

impl CorpusFile {
    /// What its header asks for.
    pub fn expected(&self) -> Expected {
        match self.text.lines().any(|line| line.starts_with(UNKNOWN)) {
            true => Expected::NotWrong,
            false => Expected::Exact,
        }
    }
}

/// What the verifier says about a file of the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorpusAnswer {
    /// The name of the file without its ending.
    pub name: String,
    /// A line for each test with a wrong proof or a false alarm.
    pub wrong: Vec<String>,
    /// A line for each test that is unknown.
    pub unknown: Vec<String>,
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
    let Judged { program, observation, questions, .. } = judged;
    let questions: Vec<Question> = questions.iter().map(|(one, _)| one.clone()).collect();
    let header =
        format!("// {}\n// Gadgets: {}.\n", truth(program, observation), program.gadgets.join(" "));
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

/// Asks the verifier about these files.
pub fn check_corpus(tools: &Tools, files: &[CorpusFile]) -> Result<Vec<CorpusAnswer>, Error> {
    let scratch = Scratch::new("extractfuzz").map_err(Error::file(std::env::temp_dir()))?;
    write(&scratch.path().join("go.mod"), GO_MOD)?;
    for file in files {
        let folder = scratch.path().join(&file.name);
        fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        write(&folder.join("program_test.go"), &file.text)?;
        write(&folder.join("package.go"), "package differential\n")?;
    }
    let answers = entries(tools, scratch.path(), "./...", &LIMITS, WALL)?;
    Ok(files.iter().map(|file| compare(file, &answers)).collect())
}

/// Compares the answers about one file with what the names of its tests say.
fn compare(file: &CorpusFile, answers: &HashMap<String, Answer>) -> CorpusAnswer {
    let tests = file.text.lines().filter_map(|line| line.strip_prefix("func Test"));
    let mut compared =
        CorpusAnswer { name: file.name.clone(), wrong: Vec::new(), unknown: Vec::new() };
    for test in tests.filter_map(|rest| rest.split('(').next()) {
        let name = format!("{}.Test{test}", file.name);
        let Some(answer) = answers.get(&format!("fuzz/{name}")) else {
            compared.unknown.push(format!("{name}: the verifier found no such entry"));
            continue;
        };
        let must_block = test.starts_with("Occurs") || test.starts_with("Blocks");
        match (must_block, answer.verdict) {
            (true, Verdict::No) | (false, Verdict::Yes) => {}
            (_, Verdict::Unknown) => {
                compared.unknown.push(format!("{name}: unknown: {}", answer.why));
            }
            (true, Verdict::Yes) => compared.wrong.push(format!("{name}: wrong proof")),
            (false, Verdict::No) => {
                compared.wrong.push(format!("{name}: false alarm: {}", answer.why));
            }
        }
    }
    compared
}
