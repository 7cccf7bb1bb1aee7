#![doc = include_str!("../README.md")]

mod error;
mod go;

pub use error::Error;
pub use go::Go;
