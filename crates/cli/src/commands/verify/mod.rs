//! What properties said, as text, as a table, as JSON, as SARIF, and as models for other tools; for
//! `strait go verify` and `strait explore --property`.

pub mod models;
pub mod report;
pub mod sarif;
pub mod table;
pub mod text;
