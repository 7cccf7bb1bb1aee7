//! Who we are to the server, by NATS' own means: a creds file, an nkey file, a user, certificates, from
//! the environment or a context of the `nats` command. Nothing of it is ever an argument; the path of
//! a file may be.

use std::env;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;

/// What is known about us. It has secrets, so nothing of it can be shown.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Credentials {
    pub(crate) creds: Option<PathBuf>,
    pub(crate) nkey: Option<PathBuf>,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) ca: Option<PathBuf>,
    pub(crate) cert: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
}

impl Credentials {
    /// From a file that the user names, and the variables that the `nats` command reads: NATS_CREDS,
    /// NATS_NKEY, NATS_USER, NATS_PASSWORD, NATS_TOKEN, NATS_CA, NATS_CERT, NATS_KEY; what they leave
    /// open comes from the context NATS_CONTEXT.
    pub fn find(creds: Option<&Path>) -> Result<Self, Error> {
        let context = match env::var("NATS_CONTEXT") {
            Ok(name) if !name.is_empty() => context(&name)?,
            _ => Credentials::default(),
        };
        let text = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let path = |name: &str| text(name).map(PathBuf::from);
        Ok(Credentials {
            creds: creds.map(Path::to_owned).or_else(|| path("NATS_CREDS")).or(context.creds),
            nkey: path("NATS_NKEY").or(context.nkey),
            user: text("NATS_USER").or(context.user),
            password: text("NATS_PASSWORD").or(context.password),
            token: text("NATS_TOKEN").or(context.token),
            ca: path("NATS_CA").or(context.ca),
            cert: path("NATS_CERT").or(context.cert),
            key: path("NATS_KEY").or(context.key),
        }
        .without_empty())
    }

    /// Contexts write what is absent as an empty text.
    fn without_empty(self) -> Self {
        let path = |path: Option<PathBuf>| path.filter(|path| !path.as_os_str().is_empty());
        let text = |text: Option<String>| text.filter(|text| !text.is_empty());
        Credentials {
            creds: path(self.creds),
            nkey: path(self.nkey),
            user: text(self.user),
            password: text(self.password),
            token: text(self.token),
            ca: path(self.ca),
            cert: path(self.cert),
            key: path(self.key),
        }
    }
}

pub(crate) fn read(path: &Path, what: &str) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| Error::Credentials {
        what: format!("cannot read {what} {}: {error}", path.display()),
    })
}

/// A context as the `nats` command keeps it.
fn context(name: &str) -> Result<Credentials, Error> {
    let bad = |what: String| Error::Credentials { what };
    if name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(bad(format!("NATS_CONTEXT={name} is no name of a context")));
    }
    let home = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".config")));
    let home = home.ok_or_else(|| bad("no home directory to look for contexts in".to_owned()))?;
    let path = home.join("nats/context").join(format!("{name}.json"));
    let text = read(&path, "the context")?;
    serde_json::from_str(&text)
        .map_err(|error| bad(format!("{} is no context: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_read_as_the_nats_command_writes_it() {
        let text = r#"{"description":"","url":"nats://h:4222","user":"","password":"","creds":"/c",
            "nkey":"","cert":"","key":"","ca":"","nsc":"","jetstream_domain":""}"#;
        let context: Credentials = serde_json::from_str(text).expect("a context");
        let context = context.without_empty();
        assert_eq!(context.creds, Some(PathBuf::from("/c")));
        assert_eq!((context.user, context.nkey, context.ca), (None, None, None));
    }
}
