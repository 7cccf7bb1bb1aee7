//! The command line, as a user meets it: every `tests/cmd/*.trycmd` and `*.toml` is a case.

#[test]
fn the_command_line() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd").case("tests/cmd/*.toml");
}
