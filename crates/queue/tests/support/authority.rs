//! Everything that a nats-server asks of people, made for a test: certificates of an authority that
//! nobody else knows, and the operator, account and user of creds files. In: a folder. Out: files in it,
//! and what the server's configuration says.

use std::path::{Path, PathBuf};

use data_encoding::BASE64URL_NOPAD;
use nkeys::KeyPair;
use serde_json::{Value, json};

/// Whoever signs certificates.
pub struct Authority {
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
    /// Its own certificate, in a file.
    pub file: PathBuf,
}

/// A certificate and its key, in files.
pub struct Certified {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Authority {
    pub fn new(folder: &Path, name: &str) -> Authority {
        let mut params = rcgen::CertificateParams::new([]).expect("no names");
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let key = rcgen::KeyPair::generate().expect("a key");
        let own = params.self_signed(&key).expect("signed");
        let file = written(folder, &format!("{name}.pem"), &own.pem());
        Authority { issuer: rcgen::Issuer::new(params, key), file }
    }

    /// Signs for this host or person.
    pub fn sign(&self, folder: &Path, name: &str) -> Certified {
        let params = rcgen::CertificateParams::new([name.to_owned()]).expect("a name");
        let key = rcgen::KeyPair::generate().expect("a key");
        let signed = params.signed_by(&key, &self.issuer).expect("signed");
        Certified {
            certificate: written(folder, &format!("{name}.pem"), &signed.pem()),
            key: written(folder, &format!("{name}.key"), &key.serialize_pem()),
        }
    }
}

/// What the server's configuration says about TLS; with an authority, clients must show a certificate
/// of its own.
pub fn tls(server: &Certified, clients: Option<&Authority>) -> String {
    let Certified { certificate, key } = server;
    let asked = clients.map(|authority| format!("ca_file: {:?}, verify: true", authority.file));
    let asked = asked.unwrap_or_default();
    format!("tls {{ cert_file: {certificate:?}, key_file: {key:?}, {asked} }}\n")
}

/// An operator with an account that may use JetStream.
pub struct Operator {
    account: KeyPair,
    /// What the server's configuration says about it.
    pub configuration: String,
}

impl Operator {
    pub fn new() -> Operator {
        let (operator, system, account) =
            (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_account());
        let own = claims(&operator, &operator, &json!({ "type": "operator" }));
        let all = json!({
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "conn": -1,
            "leaf": -1, "wildcards": true,
        });
        let mut stored = all.clone();
        for limit in ["mem_storage", "disk_storage", "streams", "consumer"] {
            stored[limit] = json!(-1);
        }
        let of = |account, limits| json!({ "type": account, "limits": limits });
        let watching = claims(&operator, &system, &of("account", all));
        let working = claims(&operator, &account, &of("account", stored));
        let (watcher, worker) = (system.public_key(), account.public_key());
        let configuration = format!(
            "operator: {own}\nsystem_account: {watcher}\nresolver: MEMORY\n\
             resolver_preload: {{ {watcher}: {watching}, {worker}: {working} }}\n"
        );
        Operator { account, configuration }
    }

    /// A user of the account: the creds file and the seed in it, which is a secret.
    pub fn user(&self, folder: &Path, name: &str) -> (PathBuf, String) {
        let user = KeyPair::new_user();
        let facts = json!({ "type": "user", "subs": -1, "data": -1, "payload": -1 });
        let (token, seed) = (claims(&self.account, &user, &facts), user.seed().expect("ours"));
        (written(folder, name, &creds(&token, &seed)), seed)
    }
}

/// A creds file.
pub fn creds(token: &str, seed: &str) -> String {
    let framed = |what: &str, content: &str| {
        format!("-----BEGIN {what}-----\n{content}\n------END {what}------\n\n")
    };
    framed("NATS USER JWT", token) + &framed("USER NKEY SEED", seed)
}

/// What `issuer` says about `subject`, signed: a JWT as NATS wants it.
fn claims(issuer: &KeyPair, subject: &KeyPair, facts: &Value) -> String {
    let mut facts = facts.clone();
    facts["version"] = json!(2);
    let body = json!({
        "jti": subject.public_key(), "iat": 1_700_000_000, "iss": issuer.public_key(),
        "sub": subject.public_key(), "name": "test", "nats": facts,
    });
    let encoded = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let head = json!({ "typ": "JWT", "alg": "ed25519-nkey" });
    let signed = format!("{}.{}", encoded(&head), encoded(&body));
    let signature = issuer.sign(signed.as_bytes()).expect("a key that signs");
    format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature))
}

/// A file.
pub fn written(folder: &Path, name: &str, content: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("written");
    path
}
