//! Where things stand in the source that people know, and what people call them there.

use strait_calculus::Span;

/// Where things stand in the source that people know.
pub trait Places {
    /// A position in words, such as `line 3` or `main.go:3`. `None` for what has no place in that
    /// source: a device of a translation, with which no property is concerned.
    fn place(&self, span: Span) -> Option<String>;

    /// The same as formulas write it after `@`: `3` or `main.go:3`.
    fn place_in_formulas(&self, span: Span) -> Option<String> {
        self.place(span)
    }

    /// Does a process wait here on purpose, so that it is no fault if nothing ever comes? Such are
    /// goroutines that serve others from the start of a program on.
    fn idles(&self, _: Span) -> bool {
        false
    }

    /// Are these two the same place in that source?
    fn is_same_place(&self, one: Span, other: Span) -> bool {
        one.start == other.start
    }

    /// May the program recover a panic of this operation and go on?
    fn recovers(&self, _: Span) -> bool {
        false
    }

    /// Does a choice here stand for data that was not followed, so that the program may never take
    /// one of its branches?
    fn untracked(&self, _: Span) -> bool {
        false
    }

    /// May `main` be a service, which waits in an empty select on purpose? A test may not.
    fn may_serve(&self) -> bool {
        true
    }

    /// What people call an object of the program.
    fn name(&self, name: &str) -> String {
        name.to_owned()
    }

    /// What people call a function of the program, if processes are named after it. The first process
    /// runs `main`.
    fn function(&self, _: &str) -> Option<String> {
        None
    }
}

/// Places in a program that was read from a text of the language.
pub struct InText<'a>(
    /// The text.
    pub &'a str,
);

impl Places for InText<'_> {
    fn place(&self, span: Span) -> Option<String> {
        Some(format!("line {}", span.line_column(self.0).0))
    }

    fn place_in_formulas(&self, span: Span) -> Option<String> {
        Some(span.line_column(self.0).0.to_string())
    }
}

/// A program that was never text: everything is somewhere.
pub struct Nowhere;

impl Places for Nowhere {
    fn place(&self, _: Span) -> Option<String> {
        Some("somewhere".into())
    }
}
