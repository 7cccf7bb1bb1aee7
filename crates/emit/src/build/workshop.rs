//! What every build needs: somebody to start programs, and a place to keep what was made.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use strait_toolchain::{Cache, Finished, Launcher, Lock, Scratch, Spec, run};

use super::missing::Missing;

/// How long a tool may take that resolves or compiles something.
const PATIENCE: Duration = Duration::from_secs(20 * 60);

/// What is kept of each end of a tool's output.
const KEEP: usize = 256 * 1024;

/// Starts tools and keeps what they make.
#[derive(Clone, Debug)]
pub struct Workshop {
    launcher: Launcher,
    cache: Cache,
    cancel: Option<Arc<AtomicBool>>,
    flix_jar: Option<PathBuf>,
    count: Arc<AtomicU64>,
    /// Made when it is first needed. In the cache, so that what is ready can be renamed to its place.
    scratch: Arc<Mutex<Option<Arc<Scratch>>>>,
}

impl Workshop {
    /// A workshop that starts programs by this launcher and keeps things in this cache.
    pub fn new(launcher: Launcher, cache: Cache) -> Self {
        let (count, scratch) = (Arc::default(), Arc::default());
        Workshop { launcher, cache, cancel: None, flix_jar: None, count, scratch }
    }

    /// A flag that ends whatever tool runs when it is set.
    pub fn cancel(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancel = Some(flag);
        self
    }

    /// The `flix.jar` to use, before the one that the environment names.
    pub fn with_flix_jar(mut self, jar: impl Into<PathBuf>) -> Self {
        self.flix_jar = Some(jar.into());
        self
    }

    pub(crate) fn flix_jar(&self) -> Option<&Path> {
        self.flix_jar.as_deref()
    }

    /// Who starts programs.
    pub fn launcher(&self) -> &Launcher {
        &self.launcher
    }

    /// Runs a tool to its end.
    pub(crate) fn run(&self, spec: Spec) -> Result<Finished, strait_toolchain::Error> {
        let spec = match &self.cancel {
            Some(flag) => spec.cancel(flag.clone()),
            None => spec,
        };
        let scratch = self.temporary_folder()?;
        let temporary = scratch.temporary().map_err(unwritable(self.cache.root()))?;
        run(&self.launcher, &spec.temporary(temporary).wall(PATIENCE).keep(KEEP))
    }

    /// Waits until nobody else uses a tool that is not made for two users at once.
    pub(crate) fn lock(&self, tool: &str) -> Result<Lock, strait_toolchain::Error> {
        self.cache.lock(tool, self.cancel.as_ref())
    }

    /// The place of a thing in the cache, whether it is there or not.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.cache.root().join("languages").join(name)
    }

    /// Goes with the last clone of this workshop.
    fn temporary_folder(&self) -> Result<Arc<Scratch>, strait_toolchain::Error> {
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scratch) = &*scratch {
            return Ok(Arc::clone(scratch));
        }
        let place = self.cache.folder("languages")?;
        let made = Scratch::within(&place, "build").map_err(unwritable(&place))?;
        Ok(Arc::clone(scratch.insert(Arc::new(made))))
    }

    /// A new folder that no one else writes to: no other process, nor another workshop in this
    /// one.
    pub(crate) fn scratch(&self) -> Result<PathBuf, Missing> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let folder = self.temporary_folder()?.path().join(format!("{number}"));
        fs::create_dir(&folder).map_err(failed("make", &folder))?;
        Ok(folder)
    }

    /// Makes a folder by `make`, unless it is there. It appears under its name only when it is
    /// complete; when two make it at once, the first one to be ready wins.
    pub(crate) fn folder(
        &self,
        name: &str,
        make: impl FnOnce(&Path) -> Result<(), Missing>,
    ) -> Result<PathBuf, Missing> {
        let place = self.place(name);
        if place.is_dir() {
            return Ok(place);
        }
        let scratch = self.scratch()?;
        let made = make(&scratch);
        if made.is_ok() && fs::rename(&scratch, &place).is_ok() {
            return Ok(place);
        }
        // What does not build is kept, since the message speaks of it.
        if let Err(Missing::DoesNotBuild { what, said, .. }) = made {
            let directory = self.place(&format!("{name}.failed"));
            let _ = fs::remove_dir_all(&directory);
            let moved = fs::rename(&scratch, &directory);
            let directory = moved.map_or(scratch, |()| directory);
            return Err(Missing::DoesNotBuild { what, directory, said });
        }
        let _ = fs::remove_dir_all(&scratch);
        made?;
        if place.is_dir() {
            return Ok(place);
        }
        let source = std::io::Error::other("the finished folder cannot be moved to its place");
        Err(failed("make", &place)(source))
    }
}

/// Writes files below a folder.
pub(crate) fn write_files(folder: &Path, files: &[(String, String)]) -> Result<(), Missing> {
    for (name, content) in files {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed("make", parent))?;
        }
        fs::write(&path, content).map_err(failed("write", &path))?;
    }
    Ok(())
}

pub(crate) fn failed(
    action: &'static str,
    path: &Path,
) -> impl Fn(std::io::Error) -> Missing + use<> {
    let path = path.to_owned();
    move |source| Missing::File { action, path: path.clone(), source }
}

fn unwritable(place: &Path) -> impl Fn(std::io::Error) -> strait_toolchain::Error + use<> {
    let path = place.to_owned();
    move |source| strait_toolchain::Error::CacheFile {
        action: "make a folder in",
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_workshops_of_one_cache_never_share_a_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let workshop = || Workshop::new(Launcher::of("strait"), Cache::at(folder.path()));
        let (one, other) = (workshop(), workshop());
        let folders = [&one, &one, &other].map(|workshop| workshop.scratch().expect("made"));
        assert!(folders[0] != folders[1] && folders[0] != folders[2], "{folders:?}");
        drop((one, other));
        assert!(folders.iter().all(|folder| !folder.exists()), "{folders:?}");
    }
}
