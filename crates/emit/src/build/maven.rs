//! Jars by the user's own `mvn`: mirrors, proxies and the local repository are the user's.

use std::fs;
use std::path::{Path, PathBuf};

use strait_toolchain::{End, Error, Finished, Spec, source_key};

use super::missing::{Missing, is_offline};
use super::workshop::{Workshop, failed};

const NEXT: &str =
    "install Maven (https://maven.apache.org, or the package `maven`), or put its folder into PATH";

/// How often `mvn` is asked before its answer is believed.
const TRIES: u32 = 3;

/// A jar: group, artifact, version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Jar {
    pub(super) group: &'static str,
    pub(super) artifact: &'static str,
    pub(super) version: String,
}

impl Jar {
    pub(super) fn new(
        group: &'static str,
        artifact: &'static str,
        version: impl Into<String>,
    ) -> Self {
        Jar { group, artifact, version: version.into() }
    }

    fn text(&self) -> String {
        let Jar { group, artifact, version } = self;
        format!(
            "    <dependency>\n      <groupId>{group}</groupId>\n      <artifactId>{artifact}</artifactId>\n      <version>{version}</version>\n    </dependency>\n"
        )
    }
}

/// The class path of jars and of what they need. The first jar is the one that is asked for.
pub(super) fn class_path(
    workshop: &Workshop,
    what: &'static str,
    list: &'static str,
    jars: &[Jar],
) -> Result<String, Missing> {
    let dependencies: String = jars.iter().map(Jar::text).collect();
    let pom = format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n  <modelVersion>4.0.0</modelVersion>\n  <groupId>strait</groupId>\n  <artifactId>strait</artifactId>\n  <version>0</version>\n  <dependencies>\n{dependencies}  </dependencies>\n</project>\n"
    );
    let name = format!("maven-{}", source_key([pom.as_str()]));
    let known = workshop.place(&name);
    // The order matters: what somebody else finishes just now is not stale.
    let was_there = known.is_dir();
    if let Some(path) = read_class_path(&known) {
        return Ok(path);
    }
    if was_there {
        // The user has emptied the repository since.
        let _ = fs::remove_dir_all(&known);
    }
    let version = jars.first().map(|jar| jar.version.clone()).unwrap_or_default();
    let folder = workshop.folder(&name, |folder| {
        let file = folder.join("pom.xml");
        fs::write(&file, &pom).map_err(failed("write", &file))?;
        resolve(workshop, folder, |finished| complaint(what, &version, list, finished))
    })?;
    read_class_path(&folder).ok_or_else(|| {
        let source = std::io::Error::other("it names jars that are not there");
        failed("read", &folder.join("classpath.txt"))(source)
    })
}

/// Lets `mvn` write the class path. Two at once spoil each other's downloads (it says that a jar is
/// broken or nothing at all), so there is one at a time; and since others on the machine do not know
/// our lock, and networks fail, it gets a second and a third chance.
fn resolve(
    workshop: &Workshop,
    folder: &Path,
    complaint: impl Fn(&Finished) -> Missing,
) -> Result<(), Missing> {
    let _alone = workshop.lock("maven")?;
    let mut tries = 0;
    loop {
        tries += 1;
        // What failed before is remembered in the local repository unless an update is asked for.
        let update: &[&str] = if tries > 1 { &["-U"] } else { &[] };
        let spec = Spec::new("mvn")
            .arguments(["-B", "-ntp", "-f", "pom.xml", "dependency:build-classpath"])
            .arguments(["-Dmdep.outputFile=classpath.txt", "-Dmdep.includeScope=runtime"])
            .arguments(update)
            .directory(folder);
        let finished = workshop.run(spec).map_err(not_installed)?;
        if finished.end.is_success() && read_class_path(folder).is_some() {
            return Ok(());
        }
        let missing = complaint(&finished);
        let is_remembered = finished.stdout.text().contains("previous attempt");
        let is_final = matches!(missing, Missing::NoSuchVersion { .. }) && !is_remembered;
        if is_final || tries == TRIES || finished.end == End::Stopped {
            return Err(missing);
        }
    }
}

/// What it means that `mvn` did not find jars.
fn complaint(
    what: &'static str,
    version: &str,
    list: &'static str,
    finished: &Finished,
) -> Missing {
    let (tool, version) = ("mvn", version.to_owned());
    let text = finished.stdout.text();
    let said = said_by(finished);
    if text.contains("Could not find artifact") || text.contains("was not found in") {
        return Missing::NoSuchVersion { what, version, list, said };
    }
    if is_offline(&text) || text.contains("Could not transfer") {
        return Missing::Offline { what, version, tool, said };
    }
    Missing::Broken { tool, command: "mvn dependency:build-classpath".to_owned(), said }
}

/// Its first errors; if there are none, how it ended and its last words.
fn said_by(finished: &Finished) -> String {
    let text = finished.stdout.text();
    let errors: Vec<&str> =
        text.lines().filter(|line| line.starts_with("[ERROR]")).take(2).collect();
    if !errors.is_empty() {
        return format!("mvn says: {}", errors.join(" "));
    }
    let last = format!("{} {}", finished.stdout.last_lines(3), finished.stderr.last_lines(3));
    format!("mvn ends with {}: {}", finished.end, last.replace('\n', " "))
}

/// The class path that was written down, if all its jars are there.
fn read_class_path(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("classpath.txt")).ok()?;
    let text = text.trim();
    let is_whole = !text.is_empty() && text.split(':').all(|jar| Path::new(jar).is_file());
    is_whole.then(|| text.to_owned())
}

fn not_installed(error: Error) -> Missing {
    match error {
        Error::CannotStart { .. } => {
            Missing::NotInstalled { tool: "mvn", looked: None, next: NEXT }
        }
        other => other.into(),
    }
}

/// The `java` of JAVA_HOME, which `mvn` uses too, or the one in PATH.
pub(super) fn java(workshop: &Workshop) -> Result<PathBuf, Missing> {
    let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
    let at_home = home.map(|home| Path::new(&home).join("bin").join("java"));
    let java = at_home.filter(|path| path.is_file()).unwrap_or_else(|| "java".into());
    let finished = match workshop.run(Spec::new(&java).arguments(["-version"])) {
        Err(Error::CannotStart { .. }) => {
            let next = "install a JDK, 11 or later, or set JAVA_HOME";
            return Err(Missing::NotInstalled { tool: "java", looked: None, next });
        }
        other => other?,
    };
    if finished.end.is_success() {
        return Ok(java);
    }
    let said = finished.stderr.last_lines(2);
    Err(Missing::Broken { tool: "java", command: "java -version".to_owned(), said })
}
