//! The programs over strait-tokio.

use strait_tokio as tokio;
use strait_tokio::sync::CancellationToken;

#[expect(clippy::unwrap_used, reason = "the programs are tests")]
#[path = "texts.rs"]
pub(crate) mod texts;
