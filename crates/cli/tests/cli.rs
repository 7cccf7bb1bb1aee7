//! The command line, as a user meets it: every `tests/cmd/*.trycmd` and `*.toml` is a case. Builds without
//! the feature `nats` have cases of their own in place of those about queues.

#[test]
fn the_command_line() {
    let cases = trycmd::TestCases::new();
    cases.case("tests/cmd/*.trycmd").case("tests/cmd/*.toml");
    if !cfg!(feature = "nats") {
        cases.skip("tests/cmd/queue-bad.trycmd").case("tests/cmd-without-nats/*.trycmd");
    }
}
