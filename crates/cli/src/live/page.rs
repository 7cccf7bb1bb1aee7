//! The live page: one HTML page that loads nothing from elsewhere and asks for `/status.json` once a second, and
//! that document. The page writes every text as text, never as HTML; its policy allows only its own script and
//! style, and requests to where it came from.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::http::Answer;
use crate::live::Snapshot;
use crate::terminal::printed_json;

/// The page. A number that is used once takes the place of `{{nonce}}`.
const PAGE: &str = include_str!("page.html");

/// What is at a path.
pub fn answer(path: &str, snapshot: &Snapshot) -> Option<Answer> {
    match path {
        "/" => Some(html()),
        "/status.json" => Some(Answer {
            content_type: "application/json",
            policy: "default-src 'none'".to_owned(),
            body: document(snapshot),
        }),
        _ => None,
    }
}

fn html() -> Answer {
    let nonce = format!("{:016x}", RandomState::new().build_hasher().finish());
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; \
         connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    Answer {
        content_type: "text/html; charset=utf-8",
        policy,
        body: PAGE.replace("{{nonce}}", &nonce),
    }
}

/// The snapshot as JSON.
fn document(snapshot: &Snapshot) -> String {
    // A snapshot has names, numbers and texts only, which can always be written.
    printed_json(&serde_json::to_string(snapshot).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_nothing_and_allows_nothing_else() {
        let page = answer("/", &Snapshot::default()).expect("a page");
        let nonce = page.policy.split_once("script-src 'nonce-").expect("a nonce").1;
        let nonce = nonce.split('\'').next().expect("its end");
        assert_eq!(page.body.matches(&format!("nonce=\"{nonce}\"")).count(), 2);
        assert!(page.policy.starts_with("default-src 'none'"), "{}", page.policy);
        for other in ["{{", "http://", "https://", "innerHTML", "insertAdjacentHTML", "eval("] {
            assert!(!page.body.contains(other), "{other}");
        }
        let again = answer("/", &Snapshot::default()).expect("a page");
        assert_ne!(page.policy, again.policy, "each answer has another number");
        assert_eq!(answer("/other", &Snapshot::default()), None);
    }

    #[test]
    fn the_document_is_the_snapshot() {
        let snapshot = Snapshot { new_findings: 7, progress: Some(0.5), ..Snapshot::default() };
        let answer = answer("/status.json", &snapshot).expect("a document");
        let document: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
        assert_eq!(document["new_findings"], 7);
        assert_eq!(document["progress"], 0.5);
        assert_eq!(document["state"], "preparing");
        assert!(document["queue"].is_null());
    }
}
