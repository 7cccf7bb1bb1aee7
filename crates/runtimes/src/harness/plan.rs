//! A program as flat instructions with simple expressions: what the lowering makes, what the wire
//! carries as text ([`super::text`]) and what a [`super::process::Process`] runs.

/// The place of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct At(pub u32);

/// A variable of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub u16);

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Func(pub u16);

/// A whole program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The functions, the entry among them.
    pub functions: Vec<Function>,
    /// Which function is the entry.
    pub main: u16,
    /// All instructions of all functions.
    pub instructions: Vec<Instruction>,
}

/// What a call needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its first instruction.
    pub entry: At,
    /// How many variables it has.
    pub variables: u16,
    /// The variables that take the arguments.
    pub params: Vec<Slot>,
}

/// What values a channel carries. On the wire every message is one integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `()`
    Unit,
    /// Booleans.
    Bool,
    /// Integers.
    Int,
    /// Channels.
    Chan,
}

/// How many messages a channel holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Capacity {
    /// None: sender and receiver meet.
    Rendezvous,
    /// So many, at least one.
    Bounded(u32),
    /// Any number.
    Unbounded,
}

/// A value of a variable. A channel is its number within the instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Value {
    /// `()`
    #[default]
    Unit,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// The channel on which nothing happens.
    Nil,
    /// A channel.
    Chan(u32),
}

/// What is computed without waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A constant.
    Constant(Value),
    /// A variable.
    Var(Slot),
    /// `!e`
    Not(Box<Expr>),
    /// `-e`
    Negate(Box<Expr>),
    /// `a + b` and the like.
    Binary(Operator, Box<Expr>, Box<Expr>),
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// `x = e`
    Set(Slot, Expr),
    /// Goes on elsewhere.
    Jump(At),
    /// Goes on elsewhere when the condition is false.
    Unless(Expr, At),
    /// A new channel.
    Open(Open),
    /// A new process that starts there with copies of the variables.
    Spawn(At),
    /// Calls a function: which, with what, and the variable for its result.
    Call(Func, Vec<Expr>, Option<Slot>),
    /// Ends a function or process.
    Return(Option<Expr>),
    /// Makes a value part of the observation.
    See(Expr),
    /// Goes on at one of these places.
    Choose(Vec<At>),
    /// Waits for one of several operations.
    Select(Select),
    /// The sending side leaves.
    Close(Expr),
    /// The receiving side leaves.
    Abandon(Expr),
}

/// How a channel is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// The variable that holds it.
    pub slot: Slot,
    /// What it holds.
    pub capacity: Capacity,
    /// May it be closed later on? Then no process keeps a sender of its own.
    pub is_closed: bool,
    /// May it be abandoned later on? Then no process keeps a receiver of its own.
    pub is_abandoned: bool,
}

/// A select, or a single put or get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// The cases.
    pub cases: Vec<Case>,
    /// Where to go on when nothing is ready.
    pub default: Option<At>,
    /// A statement of its own: then the choice is no news.
    pub is_single: bool,
}

/// One case of a select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What it waits for.
    pub op: Op,
    /// Where to go on.
    pub target: At,
}

/// What a case waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// To send: channel and message.
    Put(Expr, Expr),
    /// To receive: channel, what it carries, variables for the message and for whether there was
    /// one.
    Get(Expr, Kind, Option<Slot>, Option<Slot>),
    /// Nothing.
    Timeout,
}

impl Value {
    /// The value that a closed channel gives.
    pub fn zero(kind: Kind) -> Value {
        match kind {
            Kind::Unit => Value::Unit,
            Kind::Bool => Value::Bool(false),
            Kind::Int => Value::Int(0),
            Kind::Chan => Value::Nil,
        }
    }

    /// The value as one integer.
    pub fn to_word(self) -> i64 {
        match self {
            Value::Unit => 0,
            Value::Bool(value) => i64::from(value),
            Value::Int(value) => value,
            Value::Nil => -1,
            Value::Chan(number) => i64::from(number),
        }
    }

    /// The value that an integer stands for.
    pub fn from_word(kind: Kind, word: i64) -> Value {
        match kind {
            Kind::Unit => Value::Unit,
            Kind::Bool => Value::Bool(word != 0),
            Kind::Int => Value::Int(word),
            Kind::Chan => u32::try_from(word).map_or(Value::Nil, Value::Chan),
        }
    }
}

impl Expr {
    /// Its value.
    pub fn evaluate(&self, variables: &[Value]) -> Value {
        match self {
            Expr::Constant(value) => *value,
            Expr::Var(slot) => variables.get(slot.0 as usize).copied().unwrap_or_default(),
            Expr::Not(operand) => match operand.evaluate(variables) {
                Value::Bool(value) => Value::Bool(!value),
                other => other,
            },
            Expr::Negate(operand) => match operand.evaluate(variables) {
                Value::Int(value) => Value::Int(value.wrapping_neg()),
                other => other,
            },
            Expr::Binary(operator, left, right) => {
                operator.apply(left.evaluate(variables), right.evaluate(variables))
            }
        }
    }
}

impl Operator {
    fn apply(self, left: Value, right: Value) -> Value {
        match (self, left, right) {
            (Operator::Equal, left, right) => Value::Bool(left == right),
            (Operator::NotEqual, left, right) => Value::Bool(left != right),
            (Operator::Or, Value::Bool(left), Value::Bool(right)) => Value::Bool(left || right),
            (Operator::And, Value::Bool(left), Value::Bool(right)) => Value::Bool(left && right),
            (operator, Value::Int(left), Value::Int(right)) => operator.of_integers(left, right),
            // A checked program has no other combination.
            (_, left, _) => left,
        }
    }

    fn of_integers(self, left: i64, right: i64) -> Value {
        match self {
            Operator::Less => Value::Bool(left < right),
            Operator::LessEqual => Value::Bool(left <= right),
            Operator::Greater => Value::Bool(left > right),
            Operator::GreaterEqual => Value::Bool(left >= right),
            Operator::Add => Value::Int(left.wrapping_add(right)),
            Operator::Subtract => Value::Int(left.wrapping_sub(right)),
            Operator::Multiply => Value::Int(left.wrapping_mul(right)),
            Operator::Or | Operator::And | Operator::Equal | Operator::NotEqual => Value::Unit,
        }
    }
}
