//! A finding of `strait go fuzz` as a plain Go test that fails without Strait. In: a finding and the module that the
//! user permits to be compiled. Out: files for `go test -overlay`, and in how many runs the test failed.
//!
//! The test runs the user's own test, by the real clock or in a bubble of `testing/synctest`, and fails if a
//! goroutine stays blocked where the finding says. If that needs an order, short waits ("gates") are put before
//! statements of the user's code; which ones is found by trying.

mod evidence;
mod gates;
mod search;
mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use strait_findings::Finding;
use strait_golang::Go;
use strait_toolchain::{Launcher, Scratch, Spec};

use self::gates::Statement;
use self::search::{Attempt, Search, real_wait, run_test};
use self::text::{Mode, NamedMode, NumberedGate, TestText};
use crate::class::{Assessment, FindingClass};
use crate::error::Error;
use crate::sources::{Permitted, is_import_path};

/// To compile tests, also on a busy machine.
const COMPILATION: Duration = Duration::from_secs(600);
/// So many statements get a gate at most.
const CANDIDATES: usize = 60;
/// So many runs of what is emitted go on at once.
const AT_ONCE: usize = 4;
/// The name of the test that is emitted.
const NAME: &str = "TestStraitEmitted";
/// The names of the tests that are compiled for the search.
const SEARCHED: [(Mode, &str); 2] =
    [(Mode::Real, "TestStraitReal"), (Mode::Bubble, "TestStraitBubble")];

/// A plain test for a finding.
#[derive(Clone, Debug)]
pub struct StandaloneTest {
    /// File names and texts; `overlay.json` is not among them, because it names folders.
    pub files: Vec<(String, String)>,
    /// The files of the module that are replaced or added, each with the name of its text.
    pub replaced: Vec<(PathBuf, String)>,
    /// The package, for `go test`.
    pub package: String,
    /// Where `go test` runs.
    pub directory: PathBuf,
    /// Does it need the race detector?
    pub race: bool,
    /// The lines with gates: `bank.go:16`.
    pub gates: Vec<String>,
    /// In how many runs it failed for the reason of the finding.
    pub failed: u64,
    /// Of how many runs.
    pub runs: u64,
    /// How many combinations of gates were tried.
    pub tried: u64,
}

impl StandaloneTest {
    /// `overlay.json`, if the files are in this folder.
    pub fn overlay(&self, folder: &Path) -> String {
        let replaced = self.replaced.iter();
        overlay(replaced.map(|(path, name)| (path.clone(), folder.join(name))))
    }

    /// The command that runs it, if the files are in this folder.
    pub fn command(&self, folder: &Path) -> Vec<String> {
        let overlay = folder.join("overlay.json").display().to_string();
        let race = self.race.then(|| "-race".to_owned());
        let words = ["go", "test", "-count=1", "-overlay"].map(str::to_owned);
        let rest = [overlay, "-run".to_owned(), format!("^{NAME}$"), self.package.clone()];
        words
            .into_iter()
            .chain(rest[..1].iter().cloned())
            .chain(race)
            .chain(rest[1..].iter().cloned())
            .collect()
    }
}

/// What to emit.
pub struct StandaloneRequest<'a> {
    /// The finding's folder.
    pub folder: &'a Path,
    /// The finding.
    pub finding: &'a Finding,
    /// What may be compiled.
    pub permitted: Permitted<'a>,
    /// In so many runs the test is tried in the end.
    pub runs: u64,
    /// How long to search.
    pub time: Duration,
}

/// Makes the test and runs it.
pub fn standalone(
    request: &StandaloneRequest<'_>,
    launcher: &Launcher,
    stop: &Arc<AtomicBool>,
) -> Result<StandaloneTest, Error> {
    let subject = EmitSubject::read(request)?;
    let go = Go::find(launcher, &subject.directory)?.cancelled_by(stop.clone());
    let scratch = Scratch::new("emit").map_err(Error::Folder)?;
    let packages = list(&go, &subject)?;
    let files: Vec<PathBuf> = packages.iter().flat_map(ListedPackage::files).collect();
    let statements = gates::statements(&go, &scratch, &files)?;
    let workshop =
        EmitWorkshop { go: &go, scratch: &scratch, subject: &subject, packages, statements };
    workshop.emit(request)
}

/// What a finding says about itself, as far as it is needed here.
struct EmitSubject {
    package: String,
    /// The top-level test.
    test: String,
    class: FindingClass,
    directory: PathBuf,
    title: String,
    tags: Option<String>,
    /// `file.go:12`, relative to the module.
    locations: Vec<String>,
}

impl EmitSubject {
    fn read(request: &StandaloneRequest<'_>) -> Result<Self, Error> {
        let finding = request.finding;
        let missing = |what: &str| Error::NotAGoFinding {
            path: request.folder.to_owned(),
            reason: format!("it has no {what}"),
        };
        let text =
            |name: &str| finding.details.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
        let package = text("package").filter(|path| is_import_path(path));
        let package = package.ok_or_else(|| missing("package with an import path"))?;
        let test = text("test").ok_or_else(|| missing("test"))?;
        let test = test.split('/').next().unwrap_or_default().to_owned();
        let is_name =
            test.starts_with("Test") && test.chars().all(|one| one.is_alphanumeric() || one == '_');
        if !is_name {
            return Err(missing("test that can be called"));
        }
        let assessment = Assessment::of(&finding.details);
        let class = assessment.map(|one| one.class).ok_or_else(|| missing("class"))?;
        let unsupported =
            [FindingClass::LeftRunning, FindingClass::DependsOnTime, FindingClass::Intentional];
        if unsupported.contains(&class) {
            return Err(Error::NoStandaloneTest { class });
        }
        let recorded = text("directory").map(PathBuf::from);
        let directory = request.permitted.choose(request.folder, recorded.as_deref())?;
        let directory = directory.canonicalize().map_err(|_| Error::NoSuchFolder(directory))?;
        let locations = finding.details.get("locations").and_then(Value::as_array);
        let locations = locations.into_iter().flatten().filter_map(|one| {
            let place = gates::place(one.as_str()?)?;
            Some(format!("{}:{}", place.file, place.line))
        });
        let tags = text("tags").filter(|tags| is_tags(tags));
        let title = strait_findings::visible(&finding.title);
        let locations = locations.collect();
        Ok(EmitSubject { package, test, class, directory, title, tags, locations })
    }

    fn is_leak(&self) -> bool {
        matches!(self.class, FindingClass::LeakInEveryRun | FindingClass::LeakInRareOrders)
    }
}

/// Build tags that cannot be taken for another flag.
fn is_tags(text: &str) -> bool {
    text.chars().all(|one| one.is_ascii_alphanumeric() || "_.,".contains(one))
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct ListedPackage {
    dir: PathBuf,
    import_path: String,
    name: String,
    go_files: Vec<String>,
    test_go_files: Vec<String>,
    #[serde(rename = "XTestGoFiles")]
    x_test_go_files: Vec<String>,
}

impl ListedPackage {
    fn files(&self) -> Vec<PathBuf> {
        let all = [&self.go_files, &self.test_go_files, &self.x_test_go_files];
        all.into_iter().flatten().map(|name| self.dir.join(name)).collect()
    }

    /// The names of the packages in its folder: its own, and that of its external tests.
    fn names(&self) -> Vec<(String, &'static str)> {
        let own = (self.name.clone(), "strait_gates.go");
        let external = (format!("{}_test", self.name), "strait_gates_external_test.go");
        match self.x_test_go_files.is_empty() {
            true => vec![own],
            false => vec![own, external],
        }
    }
}

/// The package of the test, and the one that is blamed if it is another one.
fn list(go: &Go, subject: &EmitSubject) -> Result<Vec<ListedPackage>, Error> {
    let fields = "-json=Dir,ImportPath,Name,GoFiles,TestGoFiles,XTestGoFiles";
    let mut folders: Vec<String> = vec![subject.package.clone()];
    let base = go.module().unwrap_or(&subject.directory).to_owned();
    for location in &subject.locations {
        let parent = Path::new(location).parent().unwrap_or(Path::new(""));
        let is_inside = !location.starts_with('/') && !location.contains("..");
        if is_inside && base.join(parent).is_dir() {
            let pattern = format!("./{}", parent.display());
            if !folders.contains(&pattern) {
                folders.push(pattern);
            }
        }
    }
    let spec = go.spec(["list", "-e", fields]).arguments(tags(subject)).arguments(["--"]);
    let finished =
        go.run(spec.arguments(&folders).directory(&base).wall(COMPILATION).keep(16 << 20))?;
    let text = finished.stdout.text();
    let listed: Result<Vec<ListedPackage>, _> =
        serde_json::Deserializer::from_str(&text).into_iter().collect();
    let Ok(mut listed) = listed else {
        return Err(go.failure(&format!("list {}", subject.package), &finished).into());
    };
    listed.retain(|package| !package.name.is_empty() && package.dir.is_dir());
    let mut seen = std::collections::BTreeSet::new();
    listed.retain(|package| seen.insert(package.import_path.clone()));
    match listed.iter().any(|package| package.import_path == subject.package) {
        true => Ok(listed),
        false => Err(Error::NoSources(subject.package.clone())),
    }
}

fn tags(subject: &EmitSubject) -> Vec<String> {
    subject.tags.iter().map(|tags| format!("-tags={tags}")).collect()
}

/// Everything that compiling needs.
struct EmitWorkshop<'a> {
    go: &'a Go,
    scratch: &'a Scratch,
    subject: &'a EmitSubject,
    packages: Vec<ListedPackage>,
    statements: Vec<Statement>,
}

impl EmitWorkshop<'_> {
    fn emit(&self, request: &StandaloneRequest<'_>) -> Result<StandaloneTest, Error> {
        let deadline = Instant::now() + request.time;
        let tested = self.tested()?;
        let candidates = gates::ranked(&self.statements, request.finding, &self.subject.test);
        let candidates = &candidates[..candidates.len().min(CANDIDATES)];
        let (binary, modes) = self.search_binary(candidates)?;
        let places = self.places();
        let search = Search {
            go: self.go,
            binary: &binary,
            directory: &tested.dir,
            class: self.subject.class,
            places: &places,
            modes: &modes,
        };
        let (found, tried) = search.run(candidates, deadline)?;
        let mut attempt = found.ok_or(Error::NotShownWithoutStrait { tried })?;
        let mut best: Option<StandaloneTest> = None;
        loop {
            let mut emitted = self.write(&attempt)?;
            emitted.tried = tried;
            self.count(&mut emitted, &attempt, request.runs, &places)?;
            let is_sure = emitted.failed == emitted.runs || Instant::now() > deadline;
            let better = match best {
                Some(best) if best.failed >= emitted.failed => best,
                _ => emitted,
            };
            match attempt.slower().filter(|_| !is_sure) {
                Some(slower) => attempt = slower,
                None => return Ok(better),
            }
            best = Some(better);
        }
    }

    /// The package of the test.
    fn tested(&self) -> Result<&ListedPackage, Error> {
        let found = self.packages.iter().find(|one| one.import_path == self.subject.package);
        found.ok_or_else(|| Error::NoSources(self.subject.package.clone()))
    }

    /// The package clause of the file with the test.
    fn test_package(&self) -> Result<String, Error> {
        let tested = self.tested()?;
        let declares = |name: &&String| {
            let file = tested.dir.join(name);
            self.statements.iter().any(|one| one.file == file && one.function == self.subject.test)
        };
        if tested.test_go_files.iter().any(|name| declares(&name)) {
            Ok(tested.name.clone())
        } else if tested.x_test_go_files.iter().any(|name| declares(&name)) {
            Ok(format!("{}_test", tested.name))
        } else {
            Err(Error::NoSources(self.subject.test.clone()))
        }
    }

    /// The finding's places as they stand in stacks.
    fn places(&self) -> Vec<String> {
        let base = self.go.module().unwrap_or(&self.subject.directory);
        let inside = |location: &String| format!("/{location}");
        let absolute = |location: &String| base.join(location).display().to_string();
        let locations = &self.subject.locations;
        match base.is_absolute() {
            true => locations.iter().map(absolute).collect(),
            false => locations.iter().map(inside).collect(),
        }
    }

    /// A binary in which all candidates have gates, and the modes that its Go has.
    fn search_binary(&self, candidates: &[usize]) -> Result<(PathBuf, Vec<NamedMode>), Error> {
        let call = |number: &usize| (*number, format!("straitGate({number})"));
        let calls: BTreeMap<usize, String> = candidates.iter().map(call).collect();
        let mut files: Vec<(PathBuf, String)> =
            gates::with_calls(&self.statements, &calls)?.into_iter().collect();
        for package in &self.packages {
            for (name, file) in package.names() {
                files.push((package.dir.join(file), text::switched_gates(&name)));
            }
        }
        let mut refused = None;
        for modes in [&SEARCHED[..], &SEARCHED[..1]] {
            let mut files = files.clone();
            files.push(self.test_file(modes, Duration::from_secs(2))?);
            match self.compile("search", &files)? {
                Ok(binary) => return Ok((binary, modes.to_vec())),
                // A Go without `testing/synctest` compiles the other one.
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or_else(|| Error::NoSources(self.subject.package.clone())))
    }

    fn test_file(
        &self,
        modes: &[(Mode, &str)],
        gates: Duration,
    ) -> Result<(PathBuf, String), Error> {
        let leaks: &[String] = if self.subject.is_leak() { &self.subject.locations } else { &[] };
        let names: Vec<String> = leaks
            .iter()
            .filter_map(|place| Path::new(place).file_name()?.to_str().map(str::to_owned))
            .collect();
        let package = self.test_package()?;
        let text = TestText {
            package: &package,
            test: &self.subject.test,
            modes,
            title: &self.subject.title,
            leaks: &names,
            gates,
        };
        Ok((self.tested()?.dir.join("strait_emitted_test.go"), text.file()))
    }

    /// Compiles the test package with files that are replaced or added.
    fn compile(
        &self,
        name: &str,
        files: &[(PathBuf, String)],
    ) -> Result<Result<PathBuf, Error>, Error> {
        let folder = self.scratch.path().join(name);
        std::fs::create_dir_all(&folder).map_err(Error::Folder)?;
        let mut replaced = Vec::new();
        for (number, (path, text)) in files.iter().enumerate() {
            let place = folder.join(format!("{number}.go"));
            std::fs::write(&place, text).map_err(Error::Folder)?;
            replaced.push((path.clone(), place));
        }
        let overlay_file = folder.join("overlay.json");
        std::fs::write(&overlay_file, overlay(replaced)).map_err(Error::Folder)?;
        let binary = folder.join("test.exe");
        let race = (self.subject.class == FindingClass::DataRace).then_some("-race");
        let spec = self
            .go
            .spec(["test", "-c", "-vet=off", "-o"])
            .arguments([&binary])
            .arguments(["-overlay"])
            .arguments([&overlay_file])
            .arguments(race)
            .arguments(tags(self.subject))
            // An import path, which is no flag.
            .arguments([&self.subject.package])
            .wall(COMPILATION);
        let finished = self.go.run(spec)?;
        Ok(match finished.end.is_success() {
            true => Ok(binary),
            false => Err(self.go.failure("test -c (with gates)", &finished).into()),
        })
    }

    /// The files of the test that is emitted.
    fn write(&self, attempt: &Attempt) -> Result<StandaloneTest, Error> {
        let mut calls = BTreeMap::new();
        let mut by_folder: BTreeMap<(PathBuf, bool), Vec<NumberedGate>> = BTreeMap::new();
        let mut lines = Vec::new();
        for (number, gate) in attempt.gates.iter().enumerate() {
            let number = number + 1;
            calls.insert(gate.statement, format!("straitGate{number}()"));
            let statement = &self.statements[gate.statement];
            let folder = statement.file.parent().unwrap_or(Path::new("")).to_owned();
            let key = (folder, self.is_external(&statement.file));
            by_folder.entry(key).or_default().push((number, gate.who, gate.wait));
            let base = self.go.module().unwrap_or(&self.subject.directory);
            let shown = statement.file.strip_prefix(base).unwrap_or(&statement.file);
            lines.push(format!("{}:{}", shown.display(), statement.line));
        }
        let mut texts: Vec<(PathBuf, String)> =
            gates::with_calls(&self.statements, &calls)?.into_iter().collect();
        for ((folder, is_external), gates) in &by_folder {
            let package = self.packages.iter().find(|one| one.dir == *folder);
            let names = package.map(ListedPackage::names).unwrap_or_default();
            let named = names.into_iter().nth(usize::from(*is_external));
            let Some((name, file)) = named else { continue };
            texts.push((folder.join(file), text::fixed_gates(&name, gates)));
        }
        let modes = [(attempt.mode, NAME)];
        texts.push(self.test_file(&modes, real_wait(attempt))?);
        let mut files = Vec::new();
        let mut replaced = Vec::new();
        for (path, text) in texts {
            let name = path
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let is_taken = files.iter().any(|(other, _)| *other == name);
            let name = if is_taken { format!("{}_{name}", files.len()) } else { name };
            replaced.push((path, name.clone()));
            files.push((name, text));
        }
        Ok(StandaloneTest {
            files,
            replaced,
            package: self.subject.package.clone(),
            directory: self.subject.directory.clone(),
            race: self.subject.class == FindingClass::DataRace,
            gates: lines,
            failed: 0,
            runs: 0,
            tried: 0,
        })
    }

    /// Does a file belong to the external tests of its package?
    fn is_external(&self, file: &Path) -> bool {
        let is_named = |package: &ListedPackage, name: &String| package.dir.join(name) == file;
        self.packages
            .iter()
            .any(|package| package.x_test_go_files.iter().any(|name| is_named(package, name)))
    }

    /// Compiles what is emitted and runs it.
    fn count(
        &self,
        emitted: &mut StandaloneTest,
        attempt: &Attempt,
        runs: u64,
        places: &[String],
    ) -> Result<(), Error> {
        let texts = emitted.replaced.iter().zip(&emitted.files);
        let files: Vec<(PathBuf, String)> =
            texts.map(|((path, _), (_, text))| (path.clone(), text.clone())).collect();
        let binary = self.compile("emitted", &files)??;
        let directory = &self.tested()?.dir;
        let next = AtomicU64::new(0);
        let work = || -> Result<(u64, u64), Error> {
            let (mut failed, mut done) = (0, 0);
            while next.fetch_add(1, Ordering::Relaxed) < runs && !self.go.is_cancelled() {
                let spec = Spec::new(&binary);
                let output = run_test(self.go, spec, directory, NAME, real_wait(attempt))?;
                done += 1;
                failed += u64::from(evidence::shows(self.subject.class, places, &output));
            }
            Ok((failed, done))
        };
        // Most of the time a test waits.
        let counted: Vec<Result<(u64, u64), Error>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        for one in counted {
            let (failed, done) = one?;
            emitted.failed += failed;
            emitted.runs += done;
        }
        Ok(())
    }
}

fn overlay(replaced: impl IntoIterator<Item = (PathBuf, PathBuf)>) -> String {
    let replaced: BTreeMap<String, String> = replaced
        .into_iter()
        .map(|(path, text)| (path.display().to_string(), text.display().to_string()))
        .collect();
    let document = json!({ "Replace": replaced });
    // Strings can always be written.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}
