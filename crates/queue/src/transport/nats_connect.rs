//! Connects to a NATS server: who we are to it, and why it could not be reached. In: an address and
//! credentials. Out: a client, or an error that says what to do.

use std::error::Error as _;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use async_nats::rustls::Error as Tls;
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions};
use tokio::runtime::Runtime;

use crate::address::Address;
use crate::credentials::{Credentials, read};
use crate::error::Error;
use crate::shutdown::Shutdown;
use crate::transport::nats::unless_over;

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(250);
/// How long a request may take.
const REQUEST: Duration = Duration::from_secs(5);

/// Connects. A server that does not answer is asked again for so long.
pub(super) fn connect(
    runtime: &Runtime,
    address: &Address,
    credentials: &Credentials,
    patience: Duration,
    shutdown: &Shutdown,
) -> Result<Client, Error> {
    let begun = Instant::now();
    loop {
        let options = credentials
            .options()?
            .name(format!("strait {}", env!("CARGO_PKG_VERSION")))
            .request_timeout(Some(REQUEST))
            .reconnect_delay_callback(|attempts| {
                Duration::from_millis(100 * attempts.min(20) as u64)
            });
        let connect = options.connect(address.servers.clone());
        let connected = runtime.block_on(unless_over(shutdown, connect));
        let connected =
            connected.unwrap_or_else(|| Err(ConnectError::new(ConnectErrorKind::TimedOut)));
        match connected {
            Ok(client) => return Ok(client),
            Err(error) => {
                let why = Why::of(&error);
                if why != Why::Away || begun.elapsed() >= patience || shutdown.is_over() {
                    return Err(unreachable_queue(address, why, &error));
                }
                std::thread::sleep(PAUSE);
            }
        }
    }
}

/// Why there is no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// There is no answer; that may change.
    Away,
    /// The server does not take us.
    Unknown,
    /// We do not trust the server's certificate.
    Untrusted,
    /// The server does not take our certificate, or wants one.
    Uncertified,
    /// What answers speaks no TLS.
    Plain,
    /// What answers is no server of NATS.
    Other,
}

impl Why {
    fn of(error: &ConnectError) -> Why {
        match error.kind() {
            ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                return Why::Unknown;
            }
            _ => {}
        }
        // The client takes a failed handshake for a fault of the network; what it failed of is inside.
        match tls(error) {
            Some(Tls::AlertReceived(_)) => return Why::Uncertified,
            Some(Tls::InvalidMessage(_)) => return Why::Plain,
            Some(_) => return Why::Untrusted,
            None => {}
        }
        match error.kind() {
            ConnectErrorKind::Tls => Why::Untrusted,
            ConnectErrorKind::Io | ConnectErrorKind::TimedOut | ConnectErrorKind::Dns => Why::Away,
            _ => Why::Other,
        }
    }
}

/// The error of TLS in a failed connection. One of the system may hold another.
fn tls(error: &ConnectError) -> Option<&Tls> {
    let mut next = error.source();
    while let Some(error) = next {
        if let Some(tls) = error.downcast_ref::<Tls>() {
            return Some(tls);
        }
        let io = error.downcast_ref::<std::io::Error>();
        let io = io.filter(|io| io.kind() == ErrorKind::InvalidData);
        if let Some(tls) = io.and_then(|io| io.get_ref()?.downcast_ref::<Tls>()) {
            return Some(tls);
        }
        next = error.source();
    }
    None
}

fn unreachable_queue(address: &Address, why: Why, error: &ConnectError) -> Error {
    let next = match why {
        Why::Unknown => {
            "name a creds file with --creds or NATS_CREDS, or see NATS_NKEY, NATS_USER, NATS_TOKEN \
             and NATS_CONTEXT"
        }
        Why::Untrusted => "name the authority that signed the server's certificate with NATS_CA",
        Why::Uncertified => {
            "the server wants a certificate of an authority that it knows: name yours with \
             NATS_CERT and NATS_KEY"
        }
        Why::Plain => "does the server use TLS there? without it, write nats:// and no NATS_CA",
        Why::Away | Why::Other => "is nats-server running there, and is the port right?",
    };
    let passes = why == Why::Away;
    Error::Unreachable { address: address.to_string(), why: error.to_string(), next, passes }
}

impl Credentials {
    /// Options of the client that know all this.
    fn options(&self) -> Result<ConnectOptions, Error> {
        let mut options = ConnectOptions::new();
        if let Some(path) = &self.creds {
            let text = read(path, "the creds file")?;
            options = options.credentials(&text).map_err(|error| Error::Credentials {
                what: format!("{} is no creds file: {error}", path.display()),
            })?;
        } else if let Some(path) = &self.nkey {
            options = options.nkey(read(path, "the nkey")?.trim().to_owned());
        } else if let Some(token) = &self.token {
            options = options.token(token.clone());
        } else if let Some(user) = &self.user {
            let password = self.password.clone().unwrap_or_default();
            options = options.user_and_password(user.clone(), password);
        } else if self.password.is_some() {
            return Err(alone("NATS_PASSWORD", "NATS_USER"));
        }
        if let Some(ca) = &self.ca {
            pem(ca, "the certificates of NATS_CA", "CERTIFICATE")?;
            options = options.add_root_certificates(ca.clone()).require_tls(true);
        }
        match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => {
                pem(cert, "the certificate of NATS_CERT", "CERTIFICATE")?;
                pem(key, "the key of NATS_KEY", "PRIVATE KEY")?;
                options = options.add_client_certificate(cert.clone(), key.clone());
                options = options.require_tls(true);
            }
            (Some(_), None) => return Err(alone("NATS_CERT", "NATS_KEY")),
            (None, Some(_)) => return Err(alone("NATS_KEY", "NATS_CERT")),
            (None, None) => {}
        }
        Ok(options)
    }
}

fn alone(there: &str, missing: &str) -> Error {
    Error::Credentials { what: format!("{there} is set and {missing} is not") }
}

/// Looks into a file before the client does, whose words do not say which file it was.
fn pem(path: &Path, what: &str, word: &str) -> Result<(), Error> {
    let text = read(path, what)?;
    if text.lines().any(|line| line.starts_with("-----BEGIN") && line.contains(word)) {
        return Ok(());
    }
    let what = format!("{} holds no {} in PEM form", path.display(), word.to_lowercase());
    Err(Error::Credentials { what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_creds_file_that_is_none_is_said_to_be_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.creds");
        let credentials = Credentials { creds: Some(path.clone()), ..Credentials::default() };
        let said = credentials.options().expect_err("there is none").to_string();
        assert!(said.contains("cannot read the creds file"), "{said}");
        std::fs::write(&path, "nonsense").expect("written");
        let said = credentials.options().expect_err("it is none").to_string();
        assert!(said.contains("is no creds file"), "{said}");
    }
}
