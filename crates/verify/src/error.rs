//! What can be wrong with a question. A property that does not hold is no error.

use strait_calculus::suggestion;

use crate::property::Property;

/// Why a question cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no property of this name.
    #[error("there is no property `{name}`; {}", suggestion(name, Property::ALL.map(Property::name)))]
    UnknownProperty {
        /// What was asked for.
        name: String,
    },
}
