//! A test that is fuzzed, and the binaries of its package: one with the virtual clock, one with the
//! real one, which is compiled when it is first needed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use strait_golang::{Build, Built, Go, Overlay, Package, TestBinary, compile};

use crate::error::Error;
use crate::module::digest;

/// Which clock a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Jumps ahead when no goroutine can go on.
    Virtual,
    /// The machine's.
    Real,
}

/// A package whose tests are fuzzed.
#[derive(Debug)]
pub struct TestPackage {
    /// The package.
    pub package: Package,
    /// Its binary with the virtual clock, if there is one.
    pub fast: Option<TestBinary>,
    real: Mutex<Option<Result<TestBinary, String>>>,
    build: Build,
    folder: PathBuf,
    /// Held by a run if tests of this package disturb each other.
    pub alone: Mutex<()>,
}

impl TestPackage {
    pub(crate) fn new(
        package: Package,
        fast: Option<TestBinary>,
        real: Option<TestBinary>,
        build: Build,
        folder: PathBuf,
    ) -> Self {
        let (real, alone) = (Mutex::new(real.map(Ok)), Mutex::default());
        TestPackage { package, fast, real, build, folder, alone }
    }

    /// What tells the binary that was compiled first from others.
    pub(crate) fn digest(&self) -> std::io::Result<String> {
        let real = self.real.lock().unwrap_or_else(PoisonError::into_inner);
        let real = real.as_ref().and_then(|real| real.as_ref().ok());
        let Some(binary) = self.fast.as_ref().or(real) else { return Ok(String::new()) };
        Ok(digest(&std::fs::read(&binary.path)?))
    }

    /// The binary with the real clock. That it does not compile is an answer as well.
    pub fn real(&self, go: &Go, overlay: &Overlay) -> Result<Result<TestBinary, String>, Error> {
        let mut real = self.real.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*real {
            return Ok(known.clone());
        }
        let build = Build { virtual_time: false, ..self.build.clone() };
        let built = match compile(go, overlay, &self.package, &build, &self.folder)? {
            Built::Binary(binary) => Ok(binary),
            Built::Empty => Err("there are no tests".to_owned()),
            Built::Refused(said) => Err(said),
        };
        *real = Some(built.clone());
        Ok(built)
    }
}

/// A test, or a subtest.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its package.
    pub tests: Arc<TestPackage>,
    /// `TestX` or `TestX/sub`.
    pub test: String,
    /// Which subtest of its test it is, from 1; 0 is the test itself.
    pub subtest: u32,
}

impl Subject {
    /// The test with its package, for people.
    pub fn name(&self) -> String {
        format!("{} {}", self.tests.package.path, self.test)
    }
}

/// Tests by their package's import path, in their order.
pub fn by_package(subjects: &[Subject]) -> BTreeMap<String, Vec<Subject>> {
    let mut packages: BTreeMap<String, Vec<Subject>> = BTreeMap::new();
    for subject in subjects {
        packages.entry(subject.tests.package.path.clone()).or_default().push(subject.clone());
    }
    packages
}
