//! Could this have happened? In: a program and what each of its processes has seen. Out: a schedule
//! that yields it, or the certainty that there is none.

pub(crate) mod ahead;
pub(crate) mod choices;
pub(crate) mod explainer;
pub(crate) mod forced;
pub(crate) mod observation;
pub(crate) mod scripts;
pub(crate) mod weave;
