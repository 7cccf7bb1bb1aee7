//! The `strait` binary.

fn main() {}
