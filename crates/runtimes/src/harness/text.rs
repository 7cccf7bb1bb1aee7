//! Plans as text, one line an instruction, expressions in prefix notation:
//! `select case get 7 int 1 _ v0 ; case timeout 9` or `set 2 + v1 i-3`.
//!
//! Made for the wire: what [`Plan::to_text`] writes [`Plan::from_text`] reads back, and anything
//! else is an error with its line.

use std::fmt::Write;
use std::str::{FromStr, SplitAsciiWhitespace};

use super::plan::{
    At, Capacity, Case, Expr, Func, Function, Instruction, Kind, Op, Open, Operator, Plan, Select,
    Slot, Value,
};

/// A line that is not part of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPlan {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: &'static str,
}

impl std::fmt::Display for BadPlan {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "line {} of the plan: {}", self.line, self.problem)
    }
}

impl std::error::Error for BadPlan {}

/// How deep expressions may nest.
const MAX_DEPTH: u32 = 250;

const OPERATORS: [(&str, Operator); 11] = [
    ("||", Operator::Or),
    ("&&", Operator::And),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<", Operator::Less),
    ("<=", Operator::LessEqual),
    (">", Operator::Greater),
    (">=", Operator::GreaterEqual),
    ("+", Operator::Add),
    ("-", Operator::Subtract),
    ("*", Operator::Multiply),
];

const KINDS: [(&str, Kind); 4] =
    [("unit", Kind::Unit), ("bool", Kind::Bool), ("int", Kind::Int), ("chan", Kind::Chan)];

impl Plan {
    /// Writes the plan down.
    pub fn to_text(&self) -> String {
        let mut text = format!("main {}\n", self.main);
        for function in &self.functions {
            text.push_str(&format!("fn {} {}", function.entry.0, function.variables));
            function.params.iter().for_each(|param| text.push_str(&format!(" {}", param.0)));
            text.push('\n');
        }
        for instruction in &self.instructions {
            write_instruction(&mut text, instruction);
            text.push('\n');
        }
        text
    }

    /// Reads a plan.
    pub fn from_text(text: &str) -> Result<Plan, BadPlan> {
        let mut plan = Plan::default();
        for (number, line) in text.lines().enumerate() {
            let bad = |problem| BadPlan { line: number + 1, problem };
            let mut words = Words { words: line.split_ascii_whitespace() };
            let word = words.word().map_err(bad)?;
            match word {
                "main" => plan.main = words.number().map_err(bad)?,
                "fn" => plan.functions.push(words.function().map_err(bad)?),
                _ => plan.instructions.push(words.instruction(word).map_err(bad)?),
            }
            if words.words.next().is_some() {
                return Err(bad("there is more than expected"));
            }
        }
        plan.check()?;
        Ok(plan)
    }

    /// Does every place and function exist that an instruction names?
    fn check(&self) -> Result<(), BadPlan> {
        let lead = 2 + self.functions.len();
        let bad = |line, problem| Err(BadPlan { line, problem });
        let exists = |at: At| (at.0 as usize) < self.instructions.len();
        let Some(main) = self.functions.get(self.main as usize) else {
            return bad(1, "there is no such entry");
        };
        if !main.params.is_empty() {
            return bad(1, "the entry takes no arguments");
        }
        for (number, function) in self.functions.iter().enumerate() {
            let known = |slot: &Slot| slot.0 < function.variables;
            if !exists(function.entry) || !function.params.iter().all(known) {
                return bad(number + 2, "a function refers to what does not exist");
            }
        }
        for (number, instruction) in self.instructions.iter().enumerate() {
            let fits = match instruction {
                Instruction::Jump(at) | Instruction::Unless(_, at) | Instruction::Spawn(at) => {
                    exists(*at)
                }
                Instruction::Choose(places) => {
                    !places.is_empty() && places.iter().copied().all(exists)
                }
                Instruction::Call(func, arguments, _) => self
                    .functions
                    .get(func.0 as usize)
                    .is_some_and(|called| called.params.len() == arguments.len()),
                Instruction::Select(select) => {
                    select.cases.iter().all(|case| exists(case.target))
                        && select.default.is_none_or(exists)
                }
                _ => true,
            };
            if !fits {
                return bad(lead + number, "the instruction refers to what does not exist");
            }
        }
        match self.instructions.last() {
            Some(Instruction::Return(_) | Instruction::Jump(_)) => Ok(()),
            _ => bad(lead + self.instructions.len(), "the plan runs beyond its end"),
        }
    }
}

fn write_slot(text: &mut String, slot: Option<Slot>) {
    match slot {
        Some(slot) => text.push_str(&format!(" {}", slot.0)),
        None => text.push_str(" _"),
    }
}

fn write_expression(text: &mut String, expression: &Expr) {
    match expression {
        Expr::Constant(Value::Unit) => text.push_str(" ()"),
        Expr::Constant(Value::Bool(value)) => {
            text.push_str(if *value { " true" } else { " false" })
        }
        Expr::Constant(Value::Int(value)) => text.push_str(&format!(" i{value}")),
        Expr::Constant(Value::Nil | Value::Chan(_)) => text.push_str(" nil"),
        Expr::Var(slot) => text.push_str(&format!(" v{}", slot.0)),
        Expr::Not(operand) => {
            text.push_str(" !");
            write_expression(text, operand);
        }
        Expr::Negate(operand) => {
            text.push_str(" neg");
            write_expression(text, operand);
        }
        Expr::Binary(operator, left, right) => {
            let known = OPERATORS.iter().find(|(_, known)| known == operator);
            text.push(' ');
            text.push_str(known.map_or("?", |(name, _)| name));
            write_expression(text, left);
            write_expression(text, right);
        }
    }
}

fn write_instruction(text: &mut String, instruction: &Instruction) {
    let mut places = |word: &str, places: &[At]| {
        text.push_str(word);
        places.iter().for_each(|at| text.push_str(&format!(" {}", at.0)));
    };
    match instruction {
        Instruction::Jump(at) => places("jump", &[*at]),
        Instruction::Spawn(at) => places("spawn", &[*at]),
        Instruction::Choose(targets) => places("choose", targets),
        Instruction::Set(slot, value) => {
            places("set", &[]);
            write_slot(text, Some(*slot));
            write_expression(text, value);
        }
        Instruction::Unless(condition, at) => {
            places("unless", &[*at]);
            write_expression(text, condition);
        }
        Instruction::Open(open) => {
            places("open", &[]);
            write_slot(text, Some(open.slot));
            match open.capacity {
                Capacity::Rendezvous => text.push_str(" 0"),
                Capacity::Bounded(capacity) => text.push_str(&format!(" {capacity}")),
                Capacity::Unbounded => text.push_str(" unbounded"),
            }
            text.push_str(if open.is_closed { " closed" } else { " _" });
            text.push_str(if open.is_abandoned { " abandoned" } else { " _" });
        }
        Instruction::Call(func, arguments, result) => {
            places("call", &[]);
            let _ = write!(text, " {}", func.0);
            write_slot(text, *result);
            let _ = write!(text, " {}", arguments.len());
            arguments.iter().for_each(|argument| write_expression(text, argument));
        }
        Instruction::Return(value) => {
            places("return", &[]);
            value.iter().for_each(|value| write_expression(text, value));
        }
        Instruction::See(value) => {
            places("see", &[]);
            write_expression(text, value);
        }
        Instruction::Close(channel) => {
            places("close", &[]);
            write_expression(text, channel);
        }
        Instruction::Abandon(channel) => {
            places("abandon", &[]);
            write_expression(text, channel);
        }
        Instruction::Select(select) => write_select(text, select),
    }
}

fn write_select(text: &mut String, select: &Select) {
    text.push_str(if select.is_single { "single" } else { "select" });
    match select.default {
        Some(at) => text.push_str(&format!(" {}", at.0)),
        None => text.push_str(" _"),
    }
    let _ = write!(text, " {}", select.cases.len());
    for case in &select.cases {
        match &case.op {
            Op::Put(channel, value) => {
                let _ = write!(text, " put {}", case.target.0);
                write_expression(text, channel);
                write_expression(text, value);
            }
            Op::Get(channel, kind, value, ok) => {
                let known = KINDS.iter().find(|(_, known)| known == kind);
                let name = known.map_or("unit", |(name, _)| name);
                let _ = write!(text, " get {} {name}", case.target.0);
                write_slot(text, *value);
                write_slot(text, *ok);
                write_expression(text, channel);
            }
            Op::Timeout => text.push_str(&format!(" timeout {}", case.target.0)),
        }
    }
}

/// The words of a line, from left to right.
struct Words<'a> {
    words: SplitAsciiWhitespace<'a>,
}

type Read<T> = Result<T, &'static str>;

impl<'a> Words<'a> {
    fn word(&mut self) -> Read<&'a str> {
        self.words.next().ok_or("the line ends too early")
    }

    fn number<T: FromStr>(&mut self) -> Read<T> {
        self.word()?.parse().map_err(|_| "a number is missing or too large")
    }

    fn at(&mut self) -> Read<At> {
        self.number().map(At)
    }

    fn optional<T: FromStr>(&mut self) -> Read<Option<T>> {
        match self.word()? {
            "_" => Ok(None),
            word => word.parse().map(Some).map_err(|_| "neither a number nor `_`"),
        }
    }

    fn slot(&mut self) -> Read<Option<Slot>> {
        Ok(self.optional()?.map(Slot))
    }

    fn flag(&mut self, name: &str) -> Read<bool> {
        match self.word()? {
            "_" => Ok(false),
            word if word == name => Ok(true),
            _ => Err("neither a flag nor `_`"),
        }
    }

    fn function(&mut self) -> Read<Function> {
        let (entry, variables) = (self.at()?, self.number()?);
        let mut params = Vec::new();
        for word in self.words.by_ref() {
            params.push(Slot(word.parse().map_err(|_| "a parameter is not a number")?));
        }
        Ok(Function { entry, variables, params })
    }

    fn expression(&mut self, depth: u32) -> Read<Expr> {
        if depth > MAX_DEPTH {
            return Err("an expression is nested too deeply");
        }
        let word = self.word()?;
        if let Some((_, operator)) = OPERATORS.iter().find(|(name, _)| *name == word) {
            let (left, right) = (self.expression(depth + 1)?, self.expression(depth + 1)?);
            return Ok(Expr::Binary(*operator, Box::new(left), Box::new(right)));
        }
        let constant = match word {
            "()" => Value::Unit,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "nil" => Value::Nil,
            "!" => return Ok(Expr::Not(Box::new(self.expression(depth + 1)?))),
            "neg" => return Ok(Expr::Negate(Box::new(self.expression(depth + 1)?))),
            _ => {
                if let Some(slot) = word.strip_prefix('v') {
                    return slot
                        .parse()
                        .map(|slot| Expr::Var(Slot(slot)))
                        .map_err(|_| "no variable");
                }
                let digits = word.strip_prefix('i').ok_or("an expression is unknown")?;
                Value::Int(digits.parse().map_err(|_| "an integer is malformed")?)
            }
        };
        Ok(Expr::Constant(constant))
    }

    fn instruction(&mut self, word: &str) -> Read<Instruction> {
        Ok(match word {
            "jump" => Instruction::Jump(self.at()?),
            "spawn" => Instruction::Spawn(self.at()?),
            "choose" => {
                let mut places = Vec::new();
                for word in self.words.by_ref() {
                    places.push(At(word.parse().map_err(|_| "a place is not a number")?));
                }
                Instruction::Choose(places)
            }
            "set" => Instruction::Set(Slot(self.number()?), self.expression(0)?),
            "unless" => {
                let at = self.at()?;
                Instruction::Unless(self.expression(0)?, at)
            }
            "open" => {
                let slot = Slot(self.number()?);
                let capacity = match self.word()? {
                    "unbounded" => Capacity::Unbounded,
                    word => match word.parse().map_err(|_| "a capacity is malformed")? {
                        0 => Capacity::Rendezvous,
                        capacity => Capacity::Bounded(capacity),
                    },
                };
                let (is_closed, is_abandoned) = (self.flag("closed")?, self.flag("abandoned")?);
                Instruction::Open(Open { slot, capacity, is_closed, is_abandoned })
            }
            "call" => {
                let (func, result) = (Func(self.number()?), self.slot()?);
                let count: u16 = self.number()?;
                let arguments = (0..count).map(|_| self.expression(0)).collect::<Read<_>>()?;
                Instruction::Call(func, arguments, result)
            }
            "return" => {
                let mut ahead = self.words.clone();
                let value = if ahead.next().is_some() { Some(self.expression(0)?) } else { None };
                Instruction::Return(value)
            }
            "see" => Instruction::See(self.expression(0)?),
            "close" => Instruction::Close(self.expression(0)?),
            "abandon" => Instruction::Abandon(self.expression(0)?),
            "select" => Instruction::Select(self.select(false)?),
            "single" => Instruction::Select(self.select(true)?),
            _ => return Err("there is no such instruction"),
        })
    }

    fn select(&mut self, is_single: bool) -> Read<Select> {
        let default = self.optional()?.map(At);
        let count: u16 = self.number()?;
        let cases = (0..count).map(|_| self.case()).collect::<Read<_>>()?;
        Ok(Select { cases, default, is_single })
    }

    fn case(&mut self) -> Read<Case> {
        let word = self.word()?;
        let target = self.at()?;
        let op = match word {
            "put" => Op::Put(self.expression(0)?, self.expression(0)?),
            "get" => {
                let name = self.word()?;
                let kind = KINDS.iter().find(|(known, _)| *known == name).ok_or("no such type")?.1;
                let (value, ok) = (self.slot()?, self.slot()?);
                Op::Get(self.expression(0)?, kind, value, ok)
            }
            "timeout" => Op::Timeout,
            _ => return Err("there is no such case"),
        };
        Ok(Case { op, target })
    }
}
