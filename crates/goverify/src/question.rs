//! What is asked of each entry.

use strait_verify::{Formula, Property};

/// A formula with the name it is reported under.
#[derive(Clone, Debug)]
pub struct NamedFormula {
    /// The name of its file.
    pub name: String,
    /// What it says.
    pub formula: Formula,
}

/// What is asked of each entry.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The properties.
    pub properties: Vec<Property>,
    /// Were the properties named? Then each one counts, also those that are not checked by default.
    pub explicit: bool,
    /// The formulas.
    pub formulas: Vec<NamedFormula>,
    /// Are the behavioural types wanted?
    pub types: bool,
}

impl Question {
    /// Does it count as a finding if this property does not hold?
    pub fn counts(&self, property: Property) -> bool {
        self.explicit || property.is_default()
    }
}
