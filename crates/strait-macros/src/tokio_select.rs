//! `strait_tokio::select!`: as tokio's, with the order of branches as part of the search.
//!
//! ```text
//! select! { biased; PATTERN = FUTURE, if CONDITION => HANDLER, … else => HANDLER }
//! ```

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

use crate::{failure, parse};

/// One branch.
struct Branch {
    pattern: TokenStream,
    future: TokenStream,
    condition: Option<TokenStream>,
    handler: TokenStream,
}

/// Everything between the braces.
#[derive(Default)]
struct Select {
    is_biased: bool,
    branches: Vec<Branch>,
    otherwise: Option<TokenStream>,
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

fn is_ident(token: Option<&TokenTree>, wanted: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(name)) if name.to_string() == wanted)
}

/// Reads tokens one after the other.
struct Reader {
    tokens: Vec<TokenTree>,
    next: usize,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<&TokenTree> {
        self.tokens.get(self.next + ahead)
    }

    fn take(&mut self) -> Option<TokenTree> {
        self.next += 1;
        self.tokens.get(self.next - 1).cloned()
    }

    fn is_arrow(&self) -> bool {
        is_punct(self.peek(0), '=') && is_punct(self.peek(1), '>')
    }

    /// The tokens up to where `is_end` holds.
    fn until(&mut self, is_end: impl Fn(&Reader) -> bool) -> Result<TokenStream, String> {
        let mut taken = TokenStream::new();
        while !is_end(self) {
            match self.take() {
                Some(token) => taken.extend([token]),
                None => return Err("a branch of `select!` is not complete".to_owned()),
            }
        }
        Ok(taken)
    }

    /// An `=` that is not part of `..=` or `=>`.
    fn is_assignment(&self) -> bool {
        let follows_dot = self.next > 0 && is_punct(self.tokens.get(self.next - 1), '.');
        is_punct(self.peek(0), '=') && !is_punct(self.peek(1), '>') && !follows_dot
    }

    fn arrow(&mut self) {
        self.next += 2;
    }

    /// A block, or an expression up to a comma outside of `::<…>`.
    fn handler(&mut self) -> TokenStream {
        if let Some(TokenTree::Group(group)) = self.peek(0)
            && group.delimiter() == Delimiter::Brace
        {
            let block = TokenTree::Group(group.clone());
            self.next += 1;
            if is_punct(self.peek(0), ',') {
                self.next += 1;
            }
            return block.into();
        }
        let (mut taken, mut angles) = (TokenStream::new(), 0_u32);
        while let Some(token) = self.take() {
            let after_path = self.next >= 2 && is_punct(self.tokens.get(self.next - 2), ':');
            if is_punct(Some(&token), '<') && (after_path || angles > 0) {
                angles += 1;
            } else if is_punct(Some(&token), '>') && angles > 0 {
                angles -= 1;
            } else if is_punct(Some(&token), ',') && angles == 0 {
                break;
            }
            taken.extend([token]);
        }
        taken
    }

    fn branch(&mut self) -> Result<Branch, String> {
        let pattern = self.until(Reader::is_assignment)?;
        self.next += 1;
        let guard =
            |reader: &Reader| is_punct(reader.peek(0), ',') && is_ident(reader.peek(1), "if");
        let future = self.until(|reader| reader.is_arrow() || guard(reader))?;
        let mut condition = None;
        if guard(self) {
            self.next += 2;
            condition = Some(self.until(Reader::is_arrow)?);
        }
        self.arrow();
        Ok(Branch { pattern, future, condition, handler: self.handler() })
    }

    fn select(&mut self) -> Result<Select, String> {
        let mut select = Select::default();
        if is_ident(self.peek(0), "biased") && is_punct(self.peek(1), ';') {
            select.is_biased = true;
            self.next += 2;
        }
        while self.peek(0).is_some() {
            if is_ident(self.peek(0), "else") {
                self.next += 1;
                self.arrow();
                select.otherwise = Some(self.handler());
                break;
            }
            select.branches.push(self.branch()?);
        }
        Ok(select)
    }
}

/// The pattern without `ref` and `mut`, which is matched against a reference.
fn cleaned(pattern: TokenStream) -> TokenStream {
    let kept = pattern
        .into_iter()
        .filter(|token| !is_ident(Some(token), "ref") && !is_ident(Some(token), "mut"));
    let clean = |token| match token {
        TokenTree::Group(group) => {
            TokenTree::Group(Group::new(group.delimiter(), cleaned(group.stream())))
        }
        token => token,
    };
    kept.map(clean).collect()
}

fn braced(tokens: TokenStream) -> TokenTree {
    TokenTree::Group(Group::new(Delimiter::Brace, tokens))
}

fn in_parentheses(tokens: TokenStream) -> TokenTree {
    TokenTree::Group(Group::new(Delimiter::Parenthesis, tokens))
}

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut reader = Reader { tokens: input.into_iter().collect(), next: 0 };
    match reader.select() {
        Ok(select) if select.branches.is_empty() && select.otherwise.is_none() => {
            failure("`select!` needs a branch")
        }
        Ok(select) => expanded(&select),
        Err(message) => failure(&message),
    }
}

/// `enum Output<T0, T1> { B0(T0), B1(T1), Disabled }`
fn output(count: usize) -> String {
    let list = |item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<String>();
    let parameters = list(&|index| format!("T{index},"));
    let variants = list(&|index| format!("B{index}(T{index}),"));
    format!("enum __Output<{parameters}> {{ {variants} Disabled }}")
}

fn expanded(select: &Select) -> TokenStream {
    let count = select.branches.len();
    let mut inner = TokenStream::new();
    inner.extend(parse("let mut __disabled = 0_u64;"));
    for (index, branch) in select.branches.iter().enumerate() {
        if let Some(condition) = &branch.condition {
            inner.extend(parse("if !"));
            inner.extend([in_parentheses(condition.clone())]);
            inner.extend(parse(&format!("{{ __disabled |= 1 << {index}; }}")));
        }
    }
    for (index, branch) in select.branches.iter().enumerate() {
        let text = format!("let mut __future{index} = ::core::pin::pin!");
        inner.extend(parse(&text));
        let mut into = parse("::core::future::IntoFuture::into_future");
        into.extend([in_parentheses(branch.future.clone())]);
        inner.extend([in_parentheses(into)]);
        inner.extend(parse(";"));
    }
    inner.extend(parse("::core::future::poll_fn"));
    inner.extend([in_parentheses(polling(select, count))]);
    inner.extend(parse(".await"));

    let mut whole = parse(&output(count));
    whole.extend(parse("let __output ="));
    whole.extend([braced(inner)]);
    whole.extend(parse("; match __output"));
    whole.extend([braced(handlers(select))]);
    TokenTree::Group(Group::new(Delimiter::Brace, whole)).into()
}

/// `|context| { … }`
fn polling(select: &Select, count: usize) -> TokenStream {
    let mut body = parse("let mut __is_pending = false;");
    let start = match select.is_biased || count < 2 {
        true => "0".to_owned(),
        false => format!("::strait_tokio::support::start({count})"),
    };
    let mut turn = TokenStream::new();
    for (index, branch) in select.branches.iter().enumerate() {
        let mut arm = parse(&format!(
            "if __disabled & (1 << {index}) != 0 {{ continue; }}
             let __out = match ::core::future::Future::poll(__future{index}.as_mut(), __context) {{
                 ::core::task::Poll::Ready(__out) => __out,
                 ::core::task::Poll::Pending => {{ __is_pending = true; continue; }}
             }};
             __disabled |= 1 << {index};
             #[allow(unused_variables, unused_mut, unreachable_patterns, irrefutable_let_patterns)]
             match &__out"
        ));
        let mut matching = cleaned(branch.pattern.clone());
        matching.extend(parse("=> {} _ => continue,"));
        arm.extend([braced(matching)]);
        arm.extend(parse(&format!("return ::core::task::Poll::Ready(__Output::B{index}(__out));")));
        turn.extend(parse(&format!("{index} =>")));
        turn.extend([braced(arm)]);
    }
    turn.extend(parse("_ => ::core::unreachable!(\"there is no such branch\"),"));
    body.extend(parse(&format!("let __start: u32 = {start}; for __turn in 0..{count}_u32")));
    let branch = match count < 2 {
        true => "match __turn".to_owned(),
        false => format!("match (__start + __turn) % {count}"),
    };
    let mut step = parse(&branch);
    step.extend([braced(turn)]);
    body.extend([braced(step)]);
    body.extend(parse(
        "if __is_pending { ::core::task::Poll::Pending } else { ::core::task::Poll::Ready(__Output::Disabled) }",
    ));
    let mut closure = parse("|__context: &mut ::core::task::Context<'_>|");
    closure.extend([braced(body)]);
    closure
}

fn handlers(select: &Select) -> TokenStream {
    let mut arms = TokenStream::new();
    for (index, branch) in select.branches.iter().enumerate() {
        arms.extend(parse(&format!("__Output::B{index}")));
        arms.extend([in_parentheses(branch.pattern.clone())]);
        arms.extend(parse("=>"));
        arms.extend(branch.handler.clone());
        arms.extend(parse(","));
    }
    arms.extend(parse("__Output::Disabled =>"));
    match &select.otherwise {
        Some(handler) => arms.extend(handler.clone()),
        None => arms.extend(parse(
            "::core::panic!(\"all branches are disabled and there is no else branch\")",
        )),
    }
    arms.extend(parse(
        ", #[allow(unreachable_patterns)] _ => ::core::unreachable!(\"failed to match bind\"),",
    ));
    arms
}
