//! Servers that ask who we are, each a real nats-server: with TLS, with certificates of clients, with
//! creds files, nkeys, passwords and tokens. Who says it right is let in; everybody else hears what is
//! wrong, and no secret is repeated.

#![expect(
    clippy::disallowed_methods,
    reason = "tidy: starts a process because variables are a process's"
)]

#[path = "support/authority.rs"]
mod authority;
#[path = "support/server.rs"]
mod server;

use std::path::Path;
use std::process::{Command, Stdio};

use authority::{Authority, Operator, creds, tls, written};
use server::Server;

const HERE: &str = "127.0.0.1";
const WELCOME: &str = "";

/// What a client with these variables hears from a queue; nothing if it is let in.
fn greet(address: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strait-queue-subject"));
    command.args(["greet", address]).env_clear().envs(variables.iter().copied());
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.success(), said.is_empty(), "{said}");
    said
}

/// A row: the variables, and the words that are heard, all of them; none for a welcome.
fn check(address: &str, variables: &[(&str, &Path)], heard: &[&str]) {
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, path)| (*name, path.to_str().expect("UTF-8"))).collect();
    let said = greet(address, &variables);
    assert_eq!(said.is_empty(), heard.is_empty(), "{variables:?}: {said}");
    for word in heard {
        assert!(said.contains(word), "{variables:?}: no `{word}` in: {said}");
    }
}

#[test]
fn a_server_with_tls_is_trusted_if_its_authority_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (ours, other) = (Authority::new(folder, "ours"), Authority::new(folder, "other"));
    let configuration = tls(&ours.sign(folder, HERE), None);
    let Some(server) = Server::configured(HERE, &configuration) else { return };
    let plain = server.address("n");
    let secure = plain.replace("nats://", "tls://");
    let nonsense = written(folder, "nonsense.pem", "nonsense");
    for address in [&plain, &secure] {
        check(address, &[("NATS_CA", &ours.file)], &[]);
        check(address, &[("NATS_CA", &other.file)], &["UnknownIssuer", "NATS_CA"]);
        check(address, &[], &["UnknownIssuer", "NATS_CA"]);
    }
    let missing = folder.join("missing.pem");
    check(&secure, &[("NATS_CA", &missing)], &["cannot read", "NATS_CA", "missing.pem"]);
    check(&secure, &[("NATS_CA", &nonsense)], &["nonsense.pem holds no certificate"]);
    let Some(without) = Server::start(HERE) else { return };
    let address = without.address("n").replace("nats://", "tls://");
    check(&address, &[], &["write nats://"]);
}

#[test]
fn a_server_that_asks_for_certificates_takes_those_of_its_authority() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (ours, other) = (Authority::new(folder, "ours"), Authority::new(folder, "other"));
    let configuration = tls(&ours.sign(folder, HERE), Some(&ours));
    let Some(server) = Server::configured(HERE, &configuration) else { return };
    let address = server.address("n").replace("nats://", "tls://");
    let (known, stranger) = (ours.sign(folder, "known"), other.sign(folder, "stranger"));
    let ca = ("NATS_CA", ours.file.as_path());
    let shown = |one: &authority::Certified| (one.certificate.clone(), one.key.clone());
    let (certificate, key) = shown(&known);
    check(&address, &[ca, ("NATS_CERT", &certificate), ("NATS_KEY", &key)], &[]);
    check(&address, &[ca], &["NATS_CERT"]);
    let (foreign, its_key) = shown(&stranger);
    check(&address, &[ca, ("NATS_CERT", &foreign), ("NATS_KEY", &its_key)], &["NATS_CERT"]);
    check(&address, &[ca, ("NATS_CERT", &certificate)], &["NATS_CERT is set and NATS_KEY is not"]);
    check(&address, &[ca, ("NATS_KEY", &key)], &["NATS_KEY is set and NATS_CERT is not"]);
    let swapped = [ca, ("NATS_CERT", key.as_path()), ("NATS_KEY", certificate.as_path())];
    check(&address, &swapped, &["known.key holds no certificate"]);
}

#[test]
fn a_creds_file_opens_the_door_of_its_operator_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (ours, other) = (Operator::new(), Operator::new());
    let Some(mut server) = Server::configured(HERE, &ours.configuration) else { return };
    let address = server.address("n");
    let (right, seed) = ours.user(folder, "right.creds");
    let (wrong, foreign) = other.user(folder, "wrong.creds");
    check(&address, &[("NATS_CREDS", &right)], &[]);
    // What was made for the account is there again.
    server.restart(std::time::Duration::ZERO);
    check(&address, &[("NATS_CREDS", &right)], &[]);
    check(&address, &[("NATS_CREDS", &wrong)], &["authorization violation", "--creds"]);
    check(&address, &[], &["authorization violation", "--creds"]);
    // Somebody else's key does not sign for our user.
    let text = std::fs::read_to_string(&right).expect("readable");
    let token = text.lines().nth(1).expect("a token");
    let forged = written(folder, "forged.creds", &creds(token, &foreign));
    check(&address, &[("NATS_CREDS", &forged)], &["authorization violation"]);
    // What is cut off is not repeated.
    let cut = written(folder, "cut.creds", &text[..text.len() - 60]);
    let said = greet(&address, &[("NATS_CREDS", cut.to_str().expect("UTF-8"))]);
    assert!(said.contains("cut.creds") && !said.contains(&seed[..20]), "{said}");
    for path in [&wrong, &forged] {
        let said = greet(&address, &[("NATS_CREDS", path.to_str().expect("UTF-8"))]);
        assert!(!said.contains(&foreign) && !said.contains(token), "{said}");
    }
}

#[test]
fn a_context_of_the_nats_command_says_it_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (authority, operator) = (Authority::new(folder, "ours"), Operator::new());
    let configuration = tls(&authority.sign(folder, HERE), None) + &operator.configuration;
    let Some(server) = Server::configured(HERE, &configuration) else { return };
    let (user, _) = operator.user(folder, "user.creds");
    let contexts = folder.join("nats/context");
    std::fs::create_dir_all(&contexts).expect("a folder");
    let text = format!(
        "{{\"description\":\"\",\"url\":\"\",\"user\":\"\",\"creds\":{user:?},\"ca\":{:?}}}",
        authority.file
    );
    written(&contexts, "night.json", &text);
    let home = folder.to_str().expect("UTF-8");
    let with =
        |name| greet(&server.address("n"), &[("XDG_CONFIG_HOME", home), ("NATS_CONTEXT", name)]);
    assert_eq!(with("night"), WELCOME);
    let said = with("day");
    assert!(said.contains("cannot read the context") && said.contains("day.json"), "{said}");
}

#[test]
fn passwords_tokens_and_nkeys_are_taken_and_not_repeated() {
    let user = nkeys::KeyPair::new_user();
    let seed = user.seed().expect("ours");
    let folder = tempfile::tempdir().expect("a folder");
    let file = written(folder.path(), "user.nk", &format!("{seed}\n"));
    let other =
        written(folder.path(), "other.nk", &nkeys::KeyPair::new_user().seed().expect("ours"));
    let (file, other) = (file.to_str().expect("UTF-8"), other.to_str().expect("UTF-8"));
    let nkey = format!("authorization {{ users: [ {{ nkey: {} }} ] }}\n", user.public_key());
    let name = ("NATS_USER", "night");
    // The configuration, who is let in, and who is not.
    let table = [
        (
            "authorization { user: night, password: hunter2 }\n",
            vec![name, ("NATS_PASSWORD", "hunter2")],
            vec![name, ("NATS_PASSWORD", "swordfish")],
        ),
        (
            "authorization { token: hunter2 }\n",
            vec![("NATS_TOKEN", "hunter2")],
            vec![("NATS_TOKEN", "swordfish")],
        ),
        (nkey.as_str(), vec![("NATS_NKEY", file)], vec![("NATS_NKEY", other)]),
    ];
    for (configuration, right, wrong) in table {
        let Some(server) = Server::configured(HERE, configuration) else { return };
        assert_eq!(greet(&server.address("n"), &right), WELCOME, "{configuration}");
        for refused in [wrong.as_slice(), &[]] {
            let said = greet(&server.address("n"), refused);
            assert!(said.contains("authorization violation"), "{configuration}: {said}");
            assert!(!said.contains("swordfish") && !said.contains(&seed), "{said}");
        }
    }
}
