//! From the user's patterns to tests that can be run: packages are listed and compiled, tests are
//! named. What does not compile is said and left out.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use strait_golang::{Build, Built, Go, Overlay, Package, TestBinary, compile, packages};
use strait_toolchain::{Cache, Launcher, Scratch};

use crate::error::Error;
use crate::module::digest;
use crate::subject::{Subject, TestPackage};

/// What is said of a package that was not compiled in time.
const TOO_LATE: &str = "the campaign ended before it was compiled";

/// What to fuzz.
#[derive(Clone, Debug)]
pub struct Request {
    /// A folder of the module.
    pub directory: PathBuf,
    /// Packages, as `go test` understands them.
    pub patterns: Vec<String>,
    /// Which tests, as `go test -run` understands it.
    pub run: Option<String>,
    /// With the race detector, which has no virtual clock.
    pub race: bool,
    /// With the virtual clock where it works.
    pub virtual_time: bool,
    /// Build tags.
    pub tags: Option<String>,
}

/// A package that cannot take part.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Its import path.
    pub package: String,
    /// Why.
    pub said: String,
}

/// Everything that is ready.
#[derive(Debug)]
pub struct Prepared {
    /// The user's go.
    pub go: Go,
    /// The overlay of this go.
    pub overlay: Overlay,
    /// Top-level tests.
    pub subjects: Vec<Subject>,
    test_packages: Vec<Arc<TestPackage>>,
    /// Packages that are left out.
    pub problems: Vec<Problem>,
    /// How the binaries are built.
    pub build: Build,
    /// Where paths begin that are shown.
    pub base: PathBuf,
    /// Binaries and shared files; removed at the end.
    pub(crate) folder: Scratch,
}

/// Prepares. `tell` hears what takes long.
pub fn prepare(
    request: &Request,
    launcher: &Launcher,
    cache: &Cache,
    stop: &Arc<AtomicBool>,
    tell: &mut dyn FnMut(String),
) -> Result<Prepared, Error> {
    let go = Go::find(launcher, &request.directory)?.cancelled_by(Arc::clone(stop));
    let base = go.module().unwrap_or(&request.directory).to_owned();
    let virtual_time = request.virtual_time && !request.race;
    let build = Build { race: request.race, virtual_time, tags: request.tags.clone() };
    let listed = packages(&go, &build, &request.patterns)?;
    if listed.is_empty() {
        return Err(Error::NoPackages(request.patterns.join(" ")));
    }
    // A workspace has no module at its top, but packages.
    if go.module().is_none() && listed.iter().all(|package| package.problem.is_some()) {
        return Err(Error::NoModule(request.directory.clone()));
    }
    let overlay = Overlay::prepare(&go, cache)?;
    let folder = Scratch::new("go").map_err(Error::Folder)?;
    let mut prepared = Prepared {
        go,
        overlay,
        subjects: Vec::new(),
        test_packages: Vec::new(),
        problems: Vec::new(),
        build,
        base,
        folder,
    };
    let mut tested = Vec::new();
    for package in listed {
        match package.problem.clone() {
            Some(said) => prepared.problems.push(Problem { package: package.path, said }),
            None if package.has_tests => tested.push(package),
            None => {}
        }
    }
    // The first one alone: the standard library is compiled with it.
    let rest = tested.split_off(tested.len().min(1));
    for packages in [tested, rest] {
        prepared.add_all(packages, request, stop, tell)?;
    }
    Ok(prepared)
}

/// A package that was compiled, or why it was not.
enum Compiled {
    Ready(Box<TestBinary>, Vec<String>),
    Empty,
    Refused(String),
}

/// The next package that no thread compiles yet, unless it is time to stop.
fn take<'p>(
    packages: &'p [Package],
    next: &AtomicUsize,
    stop: &AtomicBool,
) -> Option<(usize, &'p Package)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    packages.get(place).filter(|_| !stop.load(Ordering::SeqCst)).map(|package| (place, package))
}

impl Prepared {
    /// What tells the compiled tests from others: it changes with their code and with all that they use.
    pub fn digest(&self) -> Result<String, Error> {
        let mut digests = String::new();
        for tests in &self.test_packages {
            let digest = tests.digest().map_err(Error::Folder)?;
            digests += &format!("{} {digest}\n", tests.package.path);
        }
        Ok(digest(digests.as_bytes()))
    }

    /// Compiles packages, one a core at a time, and takes them up in their order.
    fn add_all(
        &mut self,
        packages: Vec<Package>,
        request: &Request,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(String),
    ) -> Result<(), Error> {
        let pattern = request.run.as_deref().map(|run| run.split('/').next().unwrap_or(run));
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let next = AtomicUsize::new(0);
        let (sender, compiled) = channel();
        let mut results: Vec<Option<Compiled>> = packages.iter().map(|_| None).collect();
        std::thread::scope(|scope| {
            for _ in 0..cores.min(packages.len()) {
                let (this, packages, next, sender) = (&*self, &packages, &next, sender.clone());
                scope.spawn(move || {
                    while let Some((place, package)) = take(packages, next, stop) {
                        // After a failure the receiver is gone.
                        let _ = sender.send((place, None));
                        let result = this.compile(package, pattern.unwrap_or("."));
                        let _ = sender.send((place, Some(result)));
                    }
                });
            }
            drop(sender);
            for (place, result) in compiled {
                match result {
                    None => tell(packages[place].path.clone()),
                    Some(result) => results[place] = Some(result?),
                }
            }
            Ok::<(), Error>(())
        })?;
        for (package, compiled) in packages.into_iter().zip(results) {
            match compiled {
                Some(Compiled::Ready(binary, tests)) => self.take_up(package, *binary, tests)?,
                Some(Compiled::Refused(said)) => {
                    // What an interrupted compiler says is not about the package.
                    let is_stopped = stop.load(Ordering::SeqCst);
                    let said = if is_stopped { TOO_LATE.to_owned() } else { said };
                    self.problems.push(Problem { package: package.path, said });
                }
                Some(Compiled::Empty) => {}
                None => {
                    let said = TOO_LATE.to_owned();
                    self.problems.push(Problem { package: package.path, said });
                }
            }
        }
        Ok(())
    }

    fn take_up(
        &mut self,
        package: Package,
        binary: TestBinary,
        names: Vec<String>,
    ) -> Result<(), Error> {
        let (fast, real) =
            if binary.virtual_time { (Some(binary), None) } else { (None, Some(binary)) };
        let folder = self.folder.path().to_owned();
        let tests = Arc::new(TestPackage::new(package, fast, real, self.build.clone(), folder));
        if self.test_packages.is_empty() {
            // So that the standard library is compiled for both clocks before time is measured.
            let _ = tests.real(&self.go, &self.overlay)?;
        }
        self.test_packages.push(Arc::clone(&tests));
        let subject = |test: String| Subject { tests: Arc::clone(&tests), test, subtest: 0 };
        self.subjects.extend(names.into_iter().map(subject));
        Ok(())
    }

    /// With the virtual clock if possible: not every package compiles without cgo.
    fn compile(&self, package: &Package, pattern: &str) -> Result<Compiled, Error> {
        let folder = self.folder.path();
        let real = Build { virtual_time: false, ..self.build.clone() };
        let builds = if self.build.virtual_time { vec![&self.build, &real] } else { vec![&real] };
        let mut refused = String::new();
        for build in builds {
            match compile(&self.go, &self.overlay, package, build, folder)? {
                Built::Binary(binary) => {
                    return Ok(match binary.tests(&self.go, pattern)? {
                        Ok(tests) => Compiled::Ready(Box::new(binary), tests),
                        Err(said) => Compiled::Refused(said),
                    });
                }
                Built::Empty => return Ok(Compiled::Empty),
                Built::Refused(said) => refused = said,
            }
        }
        Ok(Compiled::Refused(refused))
    }

    /// The binary of a package.
    pub(crate) fn binary_of(&self, package: &str, virtual_time: bool) -> Result<TestBinary, Error> {
        let tests = self.test_packages.iter().find(|tests| tests.package.path == package);
        let Some(tests) = tests else {
            let problem = self.problems.iter().find(|problem| problem.package == package);
            return Err(match problem {
                Some(Problem { package, said }) => {
                    Error::DoesNotCompile { package: package.clone(), said: said.clone() }
                }
                None => Error::NoSources(package.to_owned()),
            });
        };
        if let Some(fast) = tests.fast.clone().filter(|_| virtual_time) {
            return Ok(fast);
        }
        let real = tests.real(&self.go, &self.overlay)?;
        real.map_err(|said| Error::DoesNotCompile { package: package.to_owned(), said })
    }

    /// A place for the shared file of one worker.
    pub(crate) fn shared_file(&self, worker: usize) -> PathBuf {
        self.folder.in_memory(&format!("map-{worker}"))
    }
}
