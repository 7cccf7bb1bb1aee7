//! What the errors of the client mean: from their kinds, from the codes of JetStream, and from the errors
//! that they were made of. Nothing here reads a text.

use std::error::Error;

use async_nats::jetstream::context::{
    ConsumerInfoError, ConsumerInfoErrorKind, CreateStreamError, CreateStreamErrorKind,
    GetStreamError, GetStreamErrorKind, PublishError, PublishErrorKind,
};
use async_nats::jetstream::stream::{ConsumerError, ConsumerErrorKind, PurgeError, PurgeErrorKind};
use async_nats::jetstream::{self, ErrorCode};

use crate::transport::TransportError;

/// What an error of the client means. What is not known otherwise may pass, like a server that is away.
pub(super) fn meaning(error: impl Error + 'static) -> TransportError {
    let why = error.to_string();
    let mut next: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(error) = next {
        if let Some(meaning) = known(error) {
            return meaning(why);
        }
        next = error.source();
    }
    TransportError::Away(why)
}

/// The server did not answer in time.
pub(super) fn no_answer<T>(_: T) -> TransportError {
    TransportError::Away("no answer".to_owned())
}

type Meaning = fn(String) -> TransportError;

/// What one error of a chain means by itself.
fn known(error: &(dyn Error + 'static)) -> Option<Meaning> {
    if let Some(error) = error.downcast_ref::<jetstream::Error>() {
        return Some(of_code(error.error_code()));
    }
    if let Some(error) = error.downcast_ref::<PublishError>() {
        return match error.kind() {
            PublishErrorKind::StreamNotFound => Some(TransportError::NotFound),
            PublishErrorKind::MaxPayloadExceeded => Some(TransportError::Refused),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<CreateStreamError>() {
        return match error.kind() {
            CreateStreamErrorKind::JetStream(error) => Some(of_code(error.error_code())),
            CreateStreamErrorKind::JetStreamUnavailable => Some(TransportError::NotEnabled),
            CreateStreamErrorKind::NotFound => Some(TransportError::NotFound),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<GetStreamError>() {
        return match error.kind() {
            GetStreamErrorKind::JetStream(error) => Some(of_code(error.error_code())),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<ConsumerInfoError>() {
        return match error.kind() {
            ConsumerInfoErrorKind::NotFound | ConsumerInfoErrorKind::StreamNotFound => {
                Some(TransportError::NotFound)
            }
            ConsumerInfoErrorKind::JetStream(error) => Some(of_code(error.error_code())),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<ConsumerError>() {
        return match error.kind() {
            ConsumerErrorKind::JetStream(error) => Some(of_code(error.error_code())),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<PurgeError>() {
        return match error.kind() {
            PurgeErrorKind::JetStream(error) => Some(of_code(error.error_code())),
            _ => None,
        };
    }
    None
}

/// What a code of JetStream means. A stream that cannot store a message (10077) has reached a limit of its
/// size, or its disk is full; the server has one code for both.
fn of_code(code: ErrorCode) -> Meaning {
    match code {
        ErrorCode::STREAM_NOT_FOUND
        | ErrorCode::CONSUMER_NOT_FOUND
        | ErrorCode::CONSUMER_DOES_NOT_EXIST => TransportError::NotFound,
        ErrorCode::INSUFFICIENT_RESOURCES
        | ErrorCode::ACCOUNT_RESOURCES_EXCEEDED
        | ErrorCode::STORAGE_RESOURCES_EXCEEDED
        | ErrorCode::MEMORY_RESOURCES_EXCEEDED
        | ErrorCode::STREAM_MAX_STREAM_BYTES_EXCEEDED
        | ErrorCode::STREAM_STORE_FAILED => TransportError::Full,
        ErrorCode::JETSTREAM_NOT_ENABLED
        | ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT
        | ErrorCode::NO_ACCOUNT => TransportError::NotEnabled,
        ErrorCode::CLUSTER_NOT_AVAILABLE
        | ErrorCode::CLUSTER_NOT_LEADER
        | ErrorCode::CLUSTER_NOT_ACTIVE
        | ErrorCode::STREAM_OFFLINE
        | ErrorCode::CONSUMER_OFFLINE => TransportError::Away,
        _ => TransportError::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error that a server sends, with a text that means the contrary.
    fn sent(code: u64) -> jetstream::Error {
        let text = format!(
            r#"{{"code":500,"err_code":{code},"description":"not found, not enabled, maximum bytes"}}"#
        );
        serde_json::from_str(&text).expect("an error of JetStream")
    }

    #[test]
    fn codes_and_kinds_decide_and_texts_do_not() {
        let wrapped = |code| PublishError::with_source(PublishErrorKind::Other, sent(code));
        let stream = |code| GetStreamError::new(GetStreamErrorKind::JetStream(sent(code)));
        let made = |kind| CreateStreamError::new(kind);
        let table = [
            (meaning(wrapped(10077)), "full"),
            (meaning(wrapped(10047)), "full"),
            (meaning(wrapped(10023)), "full"),
            (meaning(wrapped(10054)), "refused"),
            (meaning(PublishError::new(PublishErrorKind::StreamNotFound)), "not found"),
            (meaning(PublishError::new(PublishErrorKind::TimedOut)), "away"),
            (meaning(stream(10059)), "not found"),
            (meaning(stream(10039)), "not enabled"),
            (meaning(stream(10008)), "away"),
            (meaning(GetStreamError::new(GetStreamErrorKind::Request)), "away"),
            (meaning(made(CreateStreamErrorKind::JetStreamUnavailable)), "not enabled"),
            (meaning(made(CreateStreamErrorKind::JetStream(sent(10076)))), "not enabled"),
            (meaning(made(CreateStreamErrorKind::TimedOut)), "away"),
            (meaning(std::io::Error::other("maximum bytes exceeded")), "away"),
        ];
        for (number, (error, expected)) in table.into_iter().enumerate() {
            let found = match error {
                TransportError::Away(_) => "away",
                TransportError::NotFound(_) => "not found",
                TransportError::Full(_) => "full",
                TransportError::NotEnabled(_) => "not enabled",
                TransportError::Refused(_) => "refused",
            };
            assert_eq!(found, expected, "row {number}");
        }
    }
}
