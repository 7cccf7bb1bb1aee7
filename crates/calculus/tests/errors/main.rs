//! What is said about programs that are wrong: the message, the line, the caret under the right
//! characters and the hint, exactly as people see them.

mod shown;
mod statements;
mod text;
mod types;

use expect_test::Expect;
use strait_calculus::parse;

fn check(source: &str, expected: Expect) {
    let errors = match parse(source) {
        Ok(_) => "no error\n".to_string(),
        Err(errors) => errors.render("f.strait", source),
    };
    expected.assert_eq(&errors);
}

fn accepts(source: &str) {
    if let Err(errors) = parse(source) {
        panic!("{}", errors.render("f.strait", source));
    }
}
