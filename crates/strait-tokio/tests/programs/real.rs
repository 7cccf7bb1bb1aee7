//! The programs over tokio.

use ::tokio;
use tokio_util::sync::CancellationToken;

#[expect(clippy::unwrap_used, reason = "the programs are tests")]
#[path = "texts.rs"]
pub(crate) mod texts;
