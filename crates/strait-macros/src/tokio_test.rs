//! `#[strait_tokio::test]`: an asynchronous test under every schedule.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

use crate::{failure, parse};

const WANTED: &str = "#[strait_tokio::test] stands before an async function with a body";

/// What stands in the parentheses of the attribute.
#[derive(Default)]
struct Arguments {
    is_current_thread: bool,
    start_paused: bool,
    /// An expression of type `strait::Builder`.
    builder: Option<TokenStream>,
}

impl Arguments {
    fn read(arguments: TokenStream) -> Result<Self, String> {
        let mut read = Arguments::default();
        for argument in split(arguments) {
            match &argument[..] {
                [] => {}
                [TokenTree::Ident(name), TokenTree::Punct(equals), value @ ..]
                    if equals.as_char() == '=' =>
                {
                    let value: TokenStream = value.iter().cloned().collect();
                    read.set(&name.to_string(), value)?;
                }
                _ => return Err(format!("`{WANTED}`: arguments have the form `name = value`")),
            }
        }
        if read.start_paused {
            read.is_current_thread = true;
        }
        Ok(read)
    }

    fn set(&mut self, name: &str, value: TokenStream) -> Result<(), String> {
        let text = value.to_string();
        match (name, &text[..]) {
            ("flavor", "\"current_thread\"") => self.is_current_thread = true,
            ("flavor", "\"multi_thread\"") => self.is_current_thread = false,
            ("start_paused", "true" | "false") => self.start_paused = text == "true",
            ("worker_threads", _) => {}
            ("search", _) => self.builder = Some(value),
            _ => {
                return Err(format!(
                    "`{name} = {text}` is not known: there are `flavor = \"multi_thread\"`, `flavor = \
                     \"current_thread\"`, `start_paused = true`, `worker_threads = N` and `search = \
                     BUILDER`, an expression of type `strait::Builder`"
                ));
            }
        }
        Ok(())
    }
}

/// The parts between commas.
pub(crate) fn split(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    for token in tokens {
        match &token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => parts.push(Vec::new()),
            _ => {
                if let Some(last) = parts.last_mut() {
                    last.push(token);
                }
            }
        }
    }
    parts
}

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = match Arguments::read(arguments) {
        Ok(arguments) => arguments,
        Err(message) => return failure(&message),
    };
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let Some(TokenTree::Group(body)) = tokens.pop() else { return failure(WANTED) };
    let named = |wanted: &str| {
        let is = |token: &TokenTree| matches!(token, TokenTree::Ident(name) if name.to_string() == wanted);
        tokens.iter().position(is)
    };
    let (Some(is_async), Some(_)) = (named("async"), named("fn")) else { return failure(WANTED) };
    if body.delimiter() != Delimiter::Brace {
        return failure(WANTED);
    }
    tokens.remove(is_async);
    let main = format!(
        "::strait_tokio::support::perform_main({}, {}, async move",
        arguments.is_current_thread, arguments.start_paused
    );
    let builder =
        arguments.builder.unwrap_or_else(|| parse("::strait_tokio::support::Builder::new()"));
    let mut test = parse("#[::core::prelude::v1::test]");
    test.extend(tokens);
    // The pieces are put together as text, except for what the user wrote.
    let call = wrap(builder, &main, body);
    test.extend([TokenTree::Group(Group::new(Delimiter::Brace, call))]);
    test
}

/// `BUILDER.check(move || perform_main(…, async move BODY));`
fn wrap(builder: TokenStream, main: &str, body: Group) -> TokenStream {
    let (function, inner) = main.split_once('(').unwrap_or((main, ""));
    let mut arguments = parse(inner);
    arguments.extend([TokenTree::Group(body)]);
    let mut closure = parse("move ||");
    closure.extend(parse(function));
    closure.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, arguments))]);
    let mut call = builder;
    call.extend(parse(".check"));
    call.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, closure))]);
    call.extend(parse(";"));
    call
}
