//! Reads a gadget file: text comes in, gadgets go out. The notation is described in the README.

use crate::error::Error;
use crate::tree::Kind;

/// A piece of Go with holes.
#[derive(Clone, Debug)]
pub struct Gadget {
    /// Its name, unique in its family.
    pub name: String,
    /// Whether it starts goroutines.
    pub concurrent: bool,
    /// Whether several results are possible.
    pub varies: bool,
    /// Lines at the top level of the file.
    pub top: Vec<String>,
    /// Lines of the body.
    pub body: Vec<String>,
    /// The variables that hold results.
    pub results: Vec<(Kind, String)>,
}

/// The gadgets of a file. Lines that begin with `//` are comments.
pub fn gadgets(family: &'static str, text: &str) -> Result<Vec<Gadget>, Error> {
    let mut gadgets: Vec<Gadget> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let error = |reason: &str| Error::Gadget { family, line: number, reason: reason.into() };
        let line = line.trim();
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        if let Some(header) = line.strip_prefix("== ") {
            gadgets.push(header_of(header).ok_or_else(|| error("this flag is not known"))?);
            continue;
        }
        let gadget = gadgets.last_mut().ok_or_else(|| error("this line is before `==`"))?;
        if let Some(top) = line.strip_prefix('^') {
            gadget.top.push(top.into());
        } else if let Some(results) = line.strip_prefix("=> ") {
            let parsed: Option<Vec<_>> = results.split(", ").map(result_of).collect();
            gadget.results.extend(parsed.ok_or_else(|| error("a result is `KIND @name`"))?);
        } else {
            gadget.body.push(line.into());
        }
    }
    Ok(gadgets)
}

fn header_of(header: &str) -> Option<Gadget> {
    let mut words = header.split_whitespace();
    let name = words.next()?.to_owned();
    let (mut concurrent, mut varies) = (false, false);
    for flag in words {
        match flag {
            "concurrent" => concurrent = true,
            "varies" => varies = true,
            _ => return None,
        }
    }
    let (top, body, results) = (Vec::new(), Vec::new(), Vec::new());
    Some(Gadget { name, concurrent, varies, top, body, results })
}

fn result_of(text: &str) -> Option<(Kind, String)> {
    let (kind, name) = text.trim().split_once(" @")?;
    Some((Kind::of_go(kind)?, name.into()))
}
