//! Where a queue is: `nats://HOST:4222/NAME`. In: what the user writes. Out: servers and the names of
//! everything that belongs to this queue there. Secrets are refused: a command line is seen by others.

use std::fmt;
use std::str::FromStr;

/// The longest name.
const LONGEST: usize = 40;

/// A queue on some servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `nats://HOST:PORT`, or several of one cluster.
    pub servers: Vec<String>,
    /// The queue's name there.
    pub name: String,
}

impl Address {
    /// The stream that work waits in.
    pub fn work(&self) -> String {
        format!("STRAIT_{}_WORK", self.name)
    }

    /// The stream that results go to.
    pub fn results(&self) -> String {
        format!("STRAIT_{}_RESULTS", self.name)
    }

    /// The bucket of campaigns.
    pub fn jobs(&self) -> String {
        format!("STRAIT_{}_JOBS", self.name)
    }

    /// The bucket of notes about work that was given out again.
    pub fn notes(&self) -> String {
        format!("STRAIT_{}_NOTES", self.name)
    }

    /// The bucket of what workers say about themselves.
    pub fn workers(&self) -> String {
        format!("STRAIT_{}_WORKERS", self.name)
    }

    /// The object store of what was found.
    pub fn parcels(&self) -> String {
        format!("STRAIT_{}_FINDINGS", self.name)
    }

    /// The stream of messages that could not be used.
    pub fn letters(&self) -> String {
        format!("STRAIT_{}_DEAD", self.name)
    }

    /// The subject of a campaign's messages that could not be used; `*` for all.
    pub fn letters_of(&self, job: &str) -> String {
        format!("strait.{}.dead.{job}", self.name)
    }

    /// The subject of a campaign's work; `*` for all.
    pub fn work_of(&self, job: &str) -> String {
        format!("strait.{}.work.{job}", self.name)
    }

    /// The subject of a campaign's results; `*` for all.
    pub fn results_of(&self, job: &str) -> String {
        format!("strait.{}.result.{job}", self.name)
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "a queue is written nats://HOST:4222/NAME or tls://HOST:4222/NAME";
        let (scheme, rest) = text.split_once("://").ok_or_else(|| form.to_owned())?;
        if !["nats", "tls"].contains(&scheme) {
            return Err(form.to_owned());
        }
        // Before anything of it is repeated in a message.
        if rest.contains('@') {
            return Err(
                "an address with a user, password or token in it is not taken, since others can read \
                 command lines; name a creds file with --creds or NATS_CREDS, or a context with \
                 NATS_CONTEXT"
                    .to_owned(),
            );
        }
        let (hosts, name) = rest.split_once('/').unwrap_or((rest, ""));
        let allowed = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
        if name.is_empty() || name.len() > LONGEST || !name.chars().all(allowed) {
            return Err(format!(
                "{form}; NAME is 1 to {LONGEST} letters, digits, `-` and `_`, and all machines of a \
                 campaign use the same"
            ));
        }
        let hosts: Vec<&str> = hosts.split(',').collect();
        if hosts.iter().any(|host| host.is_empty() || host.contains(char::is_whitespace)) {
            return Err(format!("{form}; several servers of a cluster are separated by commas"));
        }
        let servers = hosts.into_iter().map(|host| format!("{scheme}://{host}")).collect();
        Ok(Address { servers, name: name.to_owned() })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.servers.join(","), self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_users_write_them() {
        let address: Address = "nats://127.0.0.1:4222/night".parse().expect("an address");
        assert_eq!(address.servers, ["nats://127.0.0.1:4222"]);
        assert_eq!(address.work(), "STRAIT_night_WORK");
        let address: Address = "tls://a:4222,b:4222/n-1".parse().expect("a cluster");
        assert_eq!(address.servers, ["tls://a:4222", "tls://b:4222"]);
        for bad in [
            "",
            "host/name",
            "http://h/n",
            "nats://h:4222",
            "nats://h/",
            "nats://h/a.b",
            "nats:///n",
        ] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
    }

    #[test]
    fn secrets_are_refused_and_not_repeated() {
        for secret in ["nats://user:hunter2@host:4222/n", "nats://hunter2@host/n"] {
            let said = secret.parse::<Address>().expect_err("a secret");
            assert!(said.contains("creds") && !said.contains("hunter2"), "{said}");
        }
    }
}
