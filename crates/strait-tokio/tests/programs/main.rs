//! Small programs over tokio's API with their exact sets of outcomes. The same text is compiled against tokio,
//! where it runs many times on several threads: what is seen there must be in the set.

mod table;

/// The programs over strait-tokio.
#[expect(clippy::unwrap_used, reason = "the programs are tests")]
mod controlled {
    use strait_tokio as tokio;
    use strait_tokio::sync::CancellationToken;

    include!("texts.rs");
}

/// The programs over tokio.
#[expect(clippy::unwrap_used, reason = "the programs are tests")]
mod real {
    use tokio_util::sync::CancellationToken;

    include!("texts.rs");
}
