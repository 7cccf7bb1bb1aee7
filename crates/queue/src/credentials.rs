//! Who we are to the server, by NATS' own means: a creds file, an nkey file, a user, certificates, from
//! the environment or a context of the `nats` command. Nothing of it is ever an argument; the path of
//! a file may be.

use std::env;
use std::path::{Path, PathBuf};

use async_nats::ConnectOptions;
use serde::Deserialize;

use crate::error::Error;

/// What is known about us. It has secrets, so nothing of it can be shown.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Credentials {
    creds: Option<PathBuf>,
    nkey: Option<PathBuf>,
    user: Option<String>,
    password: Option<String>,
    token: Option<String>,
    ca: Option<PathBuf>,
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
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

    /// Options that know all this.
    pub(crate) fn options(&self) -> Result<ConnectOptions, Error> {
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

fn read(path: &Path, what: &str) -> Result<String, Error> {
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
