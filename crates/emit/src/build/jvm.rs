//! What runs on the JVM and is written in Kotlin: kotlinx.coroutines at any version, and other
//! channel libraries by one small file each (`embedded/kotlin/eras/`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use semver::Version;
use strait_generate::Capabilities;
use strait_toolchain::{Finished, Spec, WorkerSpec};

use super::go::files_key;
use super::maven::{Jar, class_path, java};
use super::missing::Missing;
use super::workshop::{Workshop, write_files};
use super::{Compilation, Compiled, refusal_of};
use crate::language::{Era, Language};
use crate::source::Files;

/// The newest kotlinx.coroutines that is known to work.
const NEWEST: &str = "1.11.0";
/// The newest core.async that is known to work.
const NEWEST_CORE_ASYNC: &str = "1.6.681";

const COROUTINES: &str = "kotlinx.coroutines";
const COROUTINES_LIST: &str =
    "https://central.sonatype.com/artifact/org.jetbrains.kotlinx/kotlinx-coroutines-core/versions";
const COMPILERS_LIST: &str = "https://central.sonatype.com/artifact/org.jetbrains.kotlin/kotlin-compiler-embeddable/versions";
const CORE_ASYNC_LIST: &str =
    "https://central.sonatype.com/artifact/org.clojure/core.async/versions";

/// A library on the JVM, with the compiler that goes with it.
#[derive(Clone, Debug)]
pub(super) struct Jvm {
    java: PathBuf,
    compiler: Compiler,
    compiler_path: String,
    library_path: String,
    era: Era,
    pub(super) version: String,
}

/// A Kotlin compiler: its version, and what it needs besides its own jars.
#[derive(Clone, Copy, Debug)]
struct Compiler {
    version: &'static str,
    options: &'static [&'static str],
}

/// The compiler for an era. Each pair is known to work on JDK 17.
fn compiler(era: Era) -> Compiler {
    match era {
        Era::Experimental => Compiler { version: "1.2.71", options: &["-Xcoroutines=enable"] },
        Era::Classic | Era::CoreAsync => Compiler { version: "1.3.72", options: &[] },
        Era::Modern => Compiler { version: "2.4.21", options: &[] },
    }
}

impl Jvm {
    /// kotlinx.coroutines at a version.
    pub(super) fn coroutines(workshop: &Workshop, wanted: Option<&str>) -> Result<Jvm, Missing> {
        let version = wanted.unwrap_or(NEWEST);
        let era = Era::of(version).ok_or_else(|| Missing::NoSuchVersion {
            what: COROUTINES,
            version: version.to_owned(),
            list: COROUTINES_LIST,
            said: "A version is two or three numbers with dots.".to_owned(),
        })?;
        let library = Jar::new("org.jetbrains.kotlinx", "kotlinx-coroutines-core", version);
        Jvm::with(workshop, era, COROUTINES, COROUTINES_LIST, library)
    }

    /// Clojure's core.async at a version.
    pub(super) fn core_async(workshop: &Workshop, wanted: Option<&str>) -> Result<Jvm, Missing> {
        let version = wanted.unwrap_or(NEWEST_CORE_ASYNC);
        let library = Jar::new("org.clojure", "core.async", version);
        Jvm::with(workshop, Era::CoreAsync, "core.async", CORE_ASYNC_LIST, library)
    }

    fn with(
        workshop: &Workshop,
        era: Era,
        what: &'static str,
        list: &'static str,
        library: Jar,
    ) -> Result<Jvm, Missing> {
        let java = java(workshop)?;
        let compiler = compiler(era);
        let version = library.version.clone();
        let group = "org.jetbrains.kotlin";
        // The standard library is that of the compiler: what it writes may need no older one.
        let libraries = [library, Jar::new(group, "kotlin-stdlib", compiler.version)];
        let library_path = class_path(workshop, what, list, &libraries)?;
        let own = [
            Jar::new(group, "kotlin-compiler-embeddable", compiler.version),
            // Compilers before 1.4 forget that they need it.
            Jar::new("org.jetbrains", "annotations", "13.0"),
        ];
        let compiler_path = class_path(workshop, "the Kotlin compiler", COMPILERS_LIST, &own)?;
        Ok(Jvm { java, compiler, compiler_path, library_path, era, version })
    }

    /// What the contract of this version allows.
    pub(super) fn capabilities(&self) -> Capabilities {
        match self.era {
            Era::CoreAsync => core_async_capabilities(),
            _ => kotlin_capabilities(&self.version),
        }
    }

    fn run_compiler(
        &self,
        workshop: &Workshop,
        folder: &Path,
        files: &Files,
    ) -> Result<Finished, Missing> {
        let sources = files.iter().map(|(name, _)| name).filter(|name| name.ends_with(".kt"));
        let spec = Spec::new(&self.java)
            .arguments(["-Xmx2g", "-XX:+UseSerialGC", "-cp", &self.compiler_path])
            .arguments(["org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect"])
            .arguments(["-nowarn", "-cp", &self.library_path, "-d", "classes"])
            .arguments(self.compiler.options)
            .arguments(sources)
            .directory(folder);
        Ok(workshop.run(spec)?)
    }

    /// How a compiled main class is started.
    fn command(&self, folder: &Path, class: &str) -> Vec<OsString> {
        let mut path = folder.join("classes").into_os_string();
        path.push(":");
        path.push(&self.library_path);
        let options = ["-XX:+UseSerialGC", "-Xmx1g", "-XX:-OmitStackTraceInFastThrow", "-cp"];
        let mut command = vec![self.java.clone().into_os_string()];
        command.extend(options.map(OsString::from));
        command.extend([path, OsString::from(class)]);
        command
    }

    /// The interpreter, compiled once for each version of the library.
    pub(super) fn interpreter(&self, workshop: &Workshop) -> Result<WorkerSpec, Missing> {
        let files = crate::language::kotlin::interpreter(self.era);
        let library = match self.era {
            Era::CoreAsync => "core-async",
            _ => "kotlin",
        };
        let name = format!("{library}-{}-{}", self.version, files_key(&files));
        let folder = workshop.folder(&name, |folder| {
            write_files(folder, &files)?;
            let finished = self.run_compiler(workshop, folder, &files)?;
            if finished.end.is_success() {
                return Ok(());
            }
            Err(Missing::DoesNotBuild {
                what: format!("{library} {}", self.version),
                directory: folder.to_owned(),
                said: finished.stderr.last_lines(40),
            })
        })?;
        let mut command = self.command(&folder, "InterpreterKt").into_iter();
        let program = command.next().unwrap_or_default();
        Ok(WorkerSpec::foreign(Path::new(&program), command))
    }

    /// Compiles a batch in a folder of its own.
    pub(super) fn compile(
        &self,
        workshop: &Workshop,
        files: &Files,
        folder: PathBuf,
    ) -> Result<Compilation, Missing> {
        write_files(&folder, files)?;
        let finished = self.run_compiler(workshop, &folder, files)?;
        if finished.end.is_success() {
            let command = self.command(&folder, "BatchKt");
            return Ok(Compilation::Ready(Compiled { command, folder }));
        }
        Ok(refusal_of(&finished, folder))
    }

    /// The era of the sources.
    pub(super) fn era(&self) -> Era {
        self.era
    }
}

/// What may be in one select has changed over time; breaking that rule is no finding.
fn kotlin_capabilities(version: &str) -> Capabilities {
    let all = Language::Kotlin.capabilities();
    let Some(version) = crate::language::parse_version(version) else { return all };
    let before = |major, minor, patch| version < Version::new(major, minor, patch);
    Capabilities {
        same_channel_twice: before(1, 7, 0),
        put_and_get_in_select: before(1, 3, 3),
        ..all
    }
}

/// Closed channels are ready for gets, and `alts!` takes each port once.
fn core_async_capabilities() -> Capabilities {
    Capabilities {
        close: true,
        same_channel_twice: false,
        put_and_get_in_select: false,
        unbounded: false,
        ..Language::Kotlin.capabilities()
    }
}
