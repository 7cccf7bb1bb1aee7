//! Everything that emission and toolchains promise, in one binary: what the files share is compiled
//! once.

mod go;
mod kotlin;
mod others;
mod statements;
mod support;
