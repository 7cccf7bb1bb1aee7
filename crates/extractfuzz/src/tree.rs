//! A Go program as a tree that can be printed and reduced: blocks of statements, whose text holds
//! typed expressions. The tree knows no Go grammar; whether a reduced tree is a program is decided
//! by the Go compiler.

/// The types that random expressions and results have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `int`
    Int,
    /// `string`
    Str,
    /// `bool`
    Bool,
    /// An integer type with a size: bits, and whether it is signed.
    Sized(u8, bool),
}

impl Kind {
    /// The integer types with a size.
    pub const SIZED: [Kind; 8] = [
        Kind::Sized(8, true),
        Kind::Sized(8, false),
        Kind::Sized(16, true),
        Kind::Sized(16, false),
        Kind::Sized(32, true),
        Kind::Sized(32, false),
        Kind::Sized(64, true),
        Kind::Sized(64, false),
    ];

    /// The name of the type in Go.
    pub fn go(self) -> String {
        match self {
            Kind::Int => "int".into(),
            Kind::Str => "string".into(),
            Kind::Bool => "bool".into(),
            Kind::Sized(bits, true) => format!("int{bits}"),
            Kind::Sized(bits, false) => format!("uint{bits}"),
        }
    }

    /// The type of this name in Go.
    pub fn of_go(name: &str) -> Option<Kind> {
        let simple = [Kind::Int, Kind::Str, Kind::Bool];
        simple.into_iter().chain(Kind::SIZED).find(|kind| kind.go() == name)
    }

    /// The smallest literals of the type, which the reducer tries.
    pub fn simple(self) -> &'static [&'static str] {
        match self {
            Kind::Int | Kind::Sized(..) => &["0", "1"],
            Kind::Str => &["\"\"", "\"a\""],
            Kind::Bool => &["true", "false"],
        }
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// Its type.
    pub kind: Kind,
    /// Its text, with the expressions in it.
    pub parts: Vec<Piece>,
    /// Whether Go computes it at compile time, where an overflow is an error.
    pub constant: bool,
}

impl Expr {
    /// An expression without parts.
    pub fn leaf(kind: Kind, text: impl Into<String>, constant: bool) -> Self {
        Expr { kind, parts: vec![Piece::Text(text.into())], constant }
    }

    /// An expression made from a template whose holes are `$`. It counts as a constant if all its
    /// parts do.
    pub fn of(kind: Kind, template: &str, inner: Vec<Expr>) -> Self {
        let constant = inner.iter().all(|expr| expr.constant);
        let mut inner = inner.into_iter();
        let mut parts = Vec::new();
        for (number, text) in template.split('$').enumerate() {
            if number > 0 {
                parts.extend(inner.next().map(Piece::Expr));
            }
            parts.push(Piece::Text(text.into()));
        }
        Expr { kind, parts, constant }
    }
}

/// Text, or an expression in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Go text. `§` stands for what makes top-level names of a program unique in its package.
    Text(String),
    /// An expression.
    Expr(Expr),
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A statement on one line.
    Line(Vec<Piece>),
    /// A statement with blocks: `if … {` and `} else {` are arms, as are `switch … {` and its cases.
    Block {
        /// At least one.
        arms: Vec<Arm>,
        /// What closes it, from `}` on.
        end: Vec<Piece>,
    },
}

/// A part of a statement with a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The line that opens it.
    pub head: Vec<Piece>,
    /// The statements in it.
    pub body: Vec<Node>,
}

/// A variable that holds a result when the program is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
}

/// What the generator knows about the results of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Schedule {
    /// One goroutine.
    Sequential,
    /// Goroutines whose schedule has no influence on the result.
    Deterministic,
    /// Several results are possible, perhaps more than were observed.
    Varies,
}

/// A generated program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its number in the campaign.
    pub index: u64,
    /// The family that its first gadget is from.
    pub family: &'static str,
    /// The gadgets it is made of.
    pub gadgets: Vec<String>,
    /// Whether the result depends on the schedule.
    pub schedule: Schedule,
    /// Types and functions at the top level.
    pub top: Vec<Node>,
    /// The statements.
    pub body: Vec<Node>,
    /// The results.
    pub observed: Vec<Observed>,
}
