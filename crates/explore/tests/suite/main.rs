//! The engines that follow executions, on toy systems, against enumeration.

mod bounded;
mod common;
mod dpor;
mod sampling;
mod traces;
