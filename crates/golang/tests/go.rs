//! The `go` of this machine answers, in a module and outside of one.

use std::fs;

use strait_golang::Go;
use strait_toolchain::Launcher;

#[test]
fn the_go_of_a_module_is_found() {
    let launcher = Launcher::of(env!("CARGO_BIN_EXE_strait-golang-subject"));
    let folder = tempfile::tempdir().expect("a folder");
    let outside = Go::find(&launcher, folder.path()).expect("go is installed");
    assert_eq!(outside.module(), None);
    assert!(outside.root().join("src/runtime/select.go").is_file());
    fs::write(folder.path().join("go.mod"), "module example.com/m\n\ngo 1.24\n").expect("written");
    let inside = Go::find(&launcher, folder.path()).expect("go is installed");
    let module = inside.module().expect("a module").canonicalize().expect("there");
    assert_eq!(module, folder.path().canonicalize().expect("there"));
    assert!(inside.version().starts_with("1."), "{}", inside.version());
}
