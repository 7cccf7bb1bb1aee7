//! System F, checked in the ordinary way: an independent judge of what the rule file generates.
//!
//! Places that a search left open stand for any type, and so for a base type of their own; as names
//! of type variables they are names of their own. Types are equal up to names of bound variables.

use strait_clp::{Functors, Tree};

/// The name of a type variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// One that the rules made.
    Made(i32),
    /// One that was left open.
    Open(u32),
    /// One that the checker made, to keep names apart.
    Renamed(u32),
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A base type: a place that was left open.
    Base(u32),
    /// A type variable.
    Variable(Name),
    /// A function.
    Arrow(Box<Type>, Box<Type>),
    /// A polymorphic type.
    Poly(Name, Box<Type>),
}

/// Checks terms. The functors are those of the rule file.
#[derive(Debug)]
pub struct Checker<'f> {
    functors: &'f Functors,
    renamed: u32,
}

impl<'f> Checker<'f> {
    /// A checker for terms over these functors.
    pub fn new(functors: &'f Functors) -> Self {
        Checker { functors, renamed: 0 }
    }

    /// The type of a closed term, or what is wrong with it.
    pub fn check(&mut self, term: &Tree) -> Result<Type, String> {
        self.type_of(&mut Vec::new(), term)
    }

    fn type_of(&mut self, scope: &mut Vec<(i32, Type)>, term: &Tree) -> Result<Type, String> {
        let Tree::Node(functor, arguments) = term else {
            return Err(format!("{term:?} is no term"));
        };
        match (self.functors.name(*functor), arguments.as_slice()) {
            ("var", [Tree::Integer(name)]) => {
                let found = scope.iter().rev().find(|(known, _)| known == name);
                found.map(|(_, of)| of.clone()).ok_or_else(|| format!("x{name} is not in scope"))
            }
            ("lam", [Tree::Integer(name), from, body]) => {
                let from = self.read(from)?;
                scope.push((*name, from.clone()));
                let to = self.type_of(scope, body);
                scope.pop();
                Ok(Type::Arrow(Box::new(from), Box::new(to?)))
            }
            ("app", [function, argument]) => {
                let function = self.type_of(scope, function)?;
                let argument = self.type_of(scope, argument)?;
                match function {
                    Type::Arrow(from, to) if equal(&from, &argument) => Ok(*to),
                    Type::Arrow(from, _) => Err(format!("{from:?} wanted, {argument:?} given")),
                    other => Err(format!("{other:?} is no function")),
                }
            }
            ("tlam", [name, body]) => {
                let name = self.name(name)?;
                if scope.iter().any(|(_, of)| is_free(name, of)) {
                    return Err(format!("{name:?} is free in the context"));
                }
                let body = self.type_of(scope, body)?;
                Ok(Type::Poly(name, Box::new(body)))
            }
            ("tapp", [body, argument]) => {
                let argument = self.read(argument)?;
                match self.type_of(scope, body)? {
                    Type::Poly(name, body) => Ok(self.substitute(name, &argument, &body)),
                    other => Err(format!("{other:?} is not polymorphic")),
                }
            }
            (other, _) => Err(format!("{other} is no term")),
        }
    }

    fn name(&self, tree: &Tree) -> Result<Name, String> {
        match tree {
            Tree::Integer(number) => Ok(Name::Made(*number)),
            Tree::Free(number) => Ok(Name::Open(*number)),
            Tree::Node(..) => Err(format!("{tree:?} is no name")),
        }
    }

    fn read(&self, tree: &Tree) -> Result<Type, String> {
        let Tree::Node(functor, arguments) = tree else {
            let Tree::Free(number) = tree else { return Err(format!("{tree:?} is no type")) };
            return Ok(Type::Base(*number));
        };
        match (self.functors.name(*functor), arguments.as_slice()) {
            ("tvar", [name]) => Ok(Type::Variable(self.name(name)?)),
            ("arrow", [from, to]) => {
                Ok(Type::Arrow(Box::new(self.read(from)?), Box::new(self.read(to)?)))
            }
            ("poly", [name, body]) => Ok(Type::Poly(self.name(name)?, Box::new(self.read(body)?))),
            (other, _) => Err(format!("{other} is no type")),
        }
    }

    /// `body[argument / name]`, without capture.
    fn substitute(&mut self, name: Name, argument: &Type, body: &Type) -> Type {
        match body {
            Type::Base(_) => body.clone(),
            Type::Variable(found) if *found == name => argument.clone(),
            Type::Variable(_) => body.clone(),
            Type::Arrow(from, to) => Type::Arrow(
                Box::new(self.substitute(name, argument, from)),
                Box::new(self.substitute(name, argument, to)),
            ),
            Type::Poly(bound, _) if *bound == name => body.clone(),
            Type::Poly(bound, inner) => {
                self.renamed += 1;
                let new = Name::Renamed(self.renamed);
                let inner = self.substitute(*bound, &Type::Variable(new), inner);
                Type::Poly(new, Box::new(self.substitute(name, argument, &inner)))
            }
        }
    }
}

fn is_free(name: Name, within: &Type) -> bool {
    match within {
        Type::Base(_) => false,
        Type::Variable(found) => *found == name,
        Type::Arrow(from, to) => is_free(name, from) || is_free(name, to),
        Type::Poly(bound, inner) => *bound != name && is_free(name, inner),
    }
}

/// Equal up to the names of bound variables.
pub fn equal(one: &Type, other: &Type) -> bool {
    fn under(one: &Type, other: &Type, pairs: &mut Vec<(Name, Name)>) -> bool {
        match (one, other) {
            (Type::Base(one), Type::Base(other)) => one == other,
            (Type::Variable(one), Type::Variable(other)) => {
                let pair = pairs.iter().rev().find(|(left, right)| left == one || right == other);
                pair.map_or(one == other, |(left, right)| left == one && right == other)
            }
            (Type::Arrow(a, b), Type::Arrow(c, d)) => under(a, c, pairs) && under(b, d, pairs),
            (Type::Poly(left, a), Type::Poly(right, b)) => {
                pairs.push((*left, *right));
                let equal = under(a, b, pairs);
                pairs.pop();
                equal
            }
            _ => false,
        }
    }
    under(one, other, &mut Vec::new())
}
