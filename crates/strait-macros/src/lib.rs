#![doc = include_str!("../README.md")]

mod tokio_select;
mod tokio_test;

use proc_macro::{Delimiter, Group, Punct, Spacing, TokenStream, TokenTree};

/// Runs the function's body under every schedule, as a test for `cargo test` and nextest.
///
/// With arguments, these are an expression of type `strait::Builder` that says how to search:
/// `#[strait::test(strait::Builder::new().preemptions(2))]`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let Some(TokenTree::Group(body)) = tokens.pop() else {
        return failure("#[strait::test] stands before a function with a body");
    };
    let is_function = tokens
        .iter()
        .any(|token| matches!(token, TokenTree::Ident(name) if name.to_string() == "fn"));
    if body.delimiter() != Delimiter::Brace || !is_function {
        return failure("#[strait::test] stands before a function with a body");
    }
    let builder = if arguments.is_empty() { parse("::strait::Builder::new()") } else { arguments };
    let closure: TokenStream =
        parse("move ||").into_iter().chain([TokenTree::Group(body)]).collect();
    let mut call = builder;
    call.extend(parse(".check"));
    call.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, closure))]);
    call.extend([TokenTree::Punct(Punct::new(';', Spacing::Alone))]);
    let mut test = parse("#[::core::prelude::v1::test]");
    test.extend(tokens);
    test.extend([TokenTree::Group(Group::new(Delimiter::Brace, call))]);
    test
}

/// Runs the body of an asynchronous function under every schedule, as a test: `strait_tokio::test`.
///
/// Arguments: `flavor = "multi_thread"` (the default) or `"current_thread"`, `start_paused = true`,
/// `worker_threads = N`, which changes nothing, and `search = BUILDER`, an expression of type
/// `strait::Builder`.
#[proc_macro_attribute]
pub fn tokio_test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    tokio_test::expand(arguments, item)
}

/// Waits for the first of several futures, as tokio's `select!`: `strait_tokio::select!`. Under test, each
/// branch is tried as the first to be polled, unless the macro begins with `biased;`.
#[proc_macro]
pub fn tokio_select(input: TokenStream) -> TokenStream {
    tokio_select::expand(input)
}

/// Rust text that is known to be well formed, as tokens.
fn parse(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}

/// An error at the attribute, as the compiler shows it.
fn failure(message: &str) -> TokenStream {
    let mut error = parse("::core::compile_error!");
    let text = TokenTree::Literal(proc_macro::Literal::string(message));
    error.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, text.into()))]);
    error.extend([TokenTree::Punct(Punct::new(';', Spacing::Alone))]);
    error
}
