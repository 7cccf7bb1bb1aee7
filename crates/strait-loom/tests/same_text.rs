//! One text, compiled against loom and against `strait-loom`: only the name of the crate differs.
#![allow(clippy::unwrap_used, reason = "a test that gets nothing should fail there")]

mod over_loom {
    use real_loom as loom;
    include!("text/models.in");
}

mod over_strait {
    use strait_loom as loom;
    include!("text/models.in");
    include!("text/checks.in");
}
