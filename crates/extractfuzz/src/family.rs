//! The families of language features, one gadget file each.

use crate::error::Error;
use crate::template::{Gadget, gadgets};

/// A family with its gadgets.
#[derive(Clone, Debug)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// At least one.
    pub gadgets: Vec<Gadget>,
}

macro_rules! families {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../families/", $name, ".gadgets")))),*]
    };
}

const FILES: [(&str, &str); 20] = families![
    "integers",
    "strings",
    "slices",
    "maps",
    "structs",
    "interfaces",
    "closures",
    "generics",
    "iterators",
    "defers",
    "control",
    "library",
    "callbacks",
    "channels",
    "selects",
    "locks",
    "atomics",
    "contexts",
    "blocking",
    "patterns",
];

impl Family {
    /// All families.
    pub fn all() -> Result<Vec<Family>, Error> {
        let read = |(name, text)| Ok(Family { name, gadgets: gadgets(name, text)? });
        FILES.into_iter().map(read).collect()
    }

    /// The families of these names, or all of them if there are no names.
    pub fn named(names: &[String]) -> Result<Vec<Family>, Error> {
        let all = Family::all()?;
        let known = |name: &String| all.iter().any(|family| family.name == name);
        if let Some(unknown) = names.iter().find(|name| !known(name)) {
            let list: Vec<&str> = all.iter().map(|family| family.name).collect();
            return Err(Error::NoFamily(unknown.clone(), list.join(", ")));
        }
        let wanted = |family: &Family| names.is_empty() || names.iter().any(|n| n == family.name);
        Ok(all.into_iter().filter(wanted).collect())
    }

    /// The families without the gadgets in a list of `FAMILY/GADGET`, one per line; lines that
    /// begin with `#` are comments.
    pub fn without(families: Vec<Family>, list: &str) -> Vec<Family> {
        let mut families = families;
        for family in &mut families {
            let name = |gadget: &Gadget| format!("{}/{}", family.name, gadget.name);
            family.gadgets.retain(|gadget| !list.lines().any(|line| line == name(gadget)));
        }
        families.retain(|family| !family.gadgets.is_empty());
        families
    }
}
