//! The HTTP server behind `--metrics` and `--serve`. It only answers GET and HEAD; what it answers comes from a
//! function that maps a path to an answer. A request may have 8 kB and take two seconds, and at most eight
//! connections are served at a time.
//!
//! A server for this machine also refuses what a page of another origin makes a browser ask: requests with the
//! name of another host, which is how DNS rebinding reaches a loopback address, and requests that the browser
//! marks as coming from another origin.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The most bytes of a request.
const LONGEST: usize = 8 << 10;
/// How long a request or an answer may take.
const LIMIT: Duration = Duration::from_secs(2);
/// Connections that are served at a time.
const CONNECTIONS: usize = 8;
/// How long the server waits after the system gave it no connection, such as when there are too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everyone who reaches the address.
    Everyone,
    /// This machine, which knows this loopback address also as `localhost`.
    ThisMachine(SocketAddr),
}

/// What is sent for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The value of `Content-Type`.
    pub content_type: &'static str,
    /// The value of `Content-Security-Policy`.
    pub policy: String,
    /// The content.
    pub body: String,
}

/// The answer for a path; `None` if there is nothing.
pub type Answers = dyn Fn(&str) -> Option<Answer> + Send + Sync;

/// Answers requests until the process ends.
pub fn serve(
    listener: TcpListener,
    audience: Audience,
    name: &str,
    answers: Box<Answers>,
) -> std::io::Result<()> {
    let (answers, busy) = (Arc::<Answers>::from(answers), Arc::new(AtomicUsize::new(0)));
    let listen = move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                std::thread::sleep(PAUSE);
                continue;
            };
            let connection = Connection::new(&busy);
            if connection.is_one_too_many() {
                // The client can ask again.
                let _ = refuse(stream, "503 Service Unavailable", "too many connections\n");
                continue;
            }
            let answers = Arc::clone(&answers);
            let answer = move || {
                let _connection = connection;
                // The client can ask again.
                let _ = answer(stream, audience, &*answers);
            };
            // Without a thread the connection is closed.
            let _ = std::thread::Builder::new().name("http-answer".to_owned()).spawn(answer);
        }
    };
    std::thread::Builder::new().name(name.to_owned()).spawn(listen).map(|_| ())
}

/// A connection that is counted until this is dropped.
struct Connection {
    busy: Arc<AtomicUsize>,
    before: usize,
}

impl Connection {
    fn new(busy: &Arc<AtomicUsize>) -> Connection {
        let before = busy.fetch_add(1, Ordering::SeqCst);
        Connection { busy: Arc::clone(busy), before }
    }

    fn is_one_too_many(&self) -> bool {
        self.before >= CONNECTIONS
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.busy.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Reads one request and answers it.
fn answer(mut stream: TcpStream, audience: Audience, answers: &Answers) -> std::io::Result<()> {
    let head = match read_head(&mut stream)? {
        Head::Complete(head) => head,
        Head::TooLong => return refuse(stream, "431 Request Header Fields Too Large", ""),
        Head::Incomplete => return Ok(()),
    };
    let request = match Request::parse(&head) {
        Some(request) => request,
        None => return refuse(stream, "400 Bad Request", "this is no HTTP request\n"),
    };
    if !request.is_allowed(audience) {
        let text = "only pages and programs of this machine are answered\n";
        return refuse(stream, "403 Forbidden", text);
    }
    if !["GET", "HEAD"].contains(&request.method) {
        return refuse(stream, "405 Method Not Allowed", "only GET and HEAD are answered\n");
    }
    match answers(request.path) {
        Some(answer) => send(stream, "200 OK", &answer, request.method == "HEAD"),
        None => refuse(stream, "404 Not Found", "there is nothing at this path\n"),
    }
}

fn refuse(stream: TcpStream, status: &str, text: &str) -> std::io::Result<()> {
    let content_type = "text/plain; charset=utf-8";
    let policy = "default-src 'none'".to_owned();
    send(stream, status, &Answer { content_type, policy, body: text.to_owned() }, false)
}

fn send(
    mut stream: TcpStream,
    status: &str,
    answer: &Answer,
    is_head: bool,
) -> std::io::Result<()> {
    stream.set_write_timeout(Some(LIMIT))?;
    let Answer { content_type, policy, body } = answer;
    let allow = if status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n{allow}\
         Content-Security-Policy: {policy}\r\nX-Content-Type-Options: nosniff\r\n\
         X-Frame-Options: DENY\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if !is_head {
        stream.write_all(body.as_bytes())?;
    }
    Ok(())
}

/// The head of a request, as far as it came.
enum Head {
    Complete(Vec<u8>),
    TooLong,
    /// It did not come, or not in time.
    Incomplete,
}

fn read_head(stream: &mut TcpStream) -> std::io::Result<Head> {
    let deadline = Instant::now() + LIMIT;
    let (mut head, mut piece) = (Vec::new(), [0; 1024]);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Head::Incomplete);
        }
        stream.set_read_timeout(Some(left))?;
        let length = match stream.read(&mut piece) {
            Ok(0) => return Ok(Head::Incomplete),
            Ok(length) => length,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Ok(Head::Incomplete);
            }
            Err(error) => return Err(error),
        };
        head.extend_from_slice(&piece[..length]);
        if head.len() > LONGEST {
            return Ok(Head::TooLong);
        }
        if head.windows(4).any(|end| end == b"\r\n\r\n") {
            return Ok(Head::Complete(head));
        }
    }
}

/// What is asked, and for whom.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request<'a> {
    method: &'a str,
    path: &'a str,
    hosts: Vec<&'a str>,
    origins: Vec<&'a str>,
    /// `Sec-Fetch-Site`, as browsers send it.
    site: Option<&'a str>,
    /// `Sec-Fetch-Mode`.
    mode: Option<&'a str>,
}

impl<'a> Request<'a> {
    fn parse(head: &'a [u8]) -> Option<Request<'a>> {
        let mut lines = std::str::from_utf8(head).ok()?.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target) = (words.next()?, words.next()?);
        words.next().filter(|version| version.starts_with("HTTP/1."))?;
        let path = target.split('?').next().unwrap_or_default();
        let mut request = Request { method, path, ..Request::default() };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "host" => request.hosts.push(value),
                "origin" => request.origins.push(value),
                "sec-fetch-site" => request.site = Some(value),
                "sec-fetch-mode" => request.mode = Some(value),
                _ => {}
            }
        }
        Some(request)
    }

    fn is_allowed(&self, audience: Audience) -> bool {
        let Audience::ThisMachine(address) = audience else { return true };
        let port = address.port();
        let mut names = vec![address.to_string(), format!("localhost:{port}")];
        if port == 80 {
            // Browsers leave it out.
            names.extend([address.ip().to_string(), "localhost".to_owned()]);
        }
        let is_ours = |host: &str| names.iter().any(|name| name == host);
        let is_host_ours = matches!(self.hosts.as_slice(), [host] if is_ours(host));
        let is_own = |origin: &&str| origin.strip_prefix("http://").is_some_and(is_ours);
        let is_origin_ours = self.origins.iter().all(is_own);
        // A link on another page may lead here; nothing else of another page may ask.
        let is_link = self.mode == Some("navigate") && self.path == "/";
        let is_site_ours = matches!(self.site, None | Some("same-origin" | "none")) || is_link;
        is_host_ours && is_origin_ours && is_site_ours
    }
}

/// The address for a server of this machine.
pub fn loopback(text: &str) -> Result<SocketAddr, String> {
    let text = text.strip_prefix("http://").unwrap_or(text).trim_end_matches('/');
    let numeric = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    match numeric.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(address),
        Ok(_) => {
            Err("the page is for this machine only: write 127.0.0.1:PORT, and use `ssh -L` to \
                      see it from another machine"
                .to_owned())
        }
        Err(_) => {
            Err("write an address of this machine with a port, such as 127.0.0.1:8080".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a server answers to these bytes.
    fn said(request: &[u8], audience: Audience) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = std::thread::spawn(move || {
            let (stream, _) = listener.accept().expect("a client");
            let answers = |path: &str| {
                let body = "the text".to_owned();
                let policy = "default-src 'none'".to_owned();
                (path == "/").then_some(Answer { content_type: "text/plain", policy, body })
            };
            let _ = answer(stream, audience, &answers);
        });
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(request).expect("it is read");
        let mut said = Vec::new();
        // A request that is too long is answered before it is read to its end.
        let _ = stream.read_to_end(&mut said);
        server.join().expect("it answers");
        String::from_utf8(said).expect("text")
    }

    #[test]
    fn requests_are_answered_within_bounds() {
        let long = [b"GET / HTTP/1.1\r\nX: ".as_slice(), &[b'x'; LONGEST]].concat();
        let table: [(&[u8], &str); 9] = [
            (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK"),
            (b"GET /?x=1 HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK"),
            (b"HEAD / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK"),
            (b"GET /other HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found"),
            (b"POST / HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed"),
            (b"hello\r\n\r\n", "HTTP/1.1 400 Bad Request"),
            (b"GET / HTTP/1.1\r\nX: \xff\r\n\r\n", "HTTP/1.1 400 Bad Request"),
            (&long, "HTTP/1.1 431 Request Header Fields Too Large"),
            // It never ends, and it is not joined.
            (b"GET /", ""),
        ];
        for (request, status) in table {
            let begun = Instant::now();
            let said = said(request, Audience::Everyone);
            assert_eq!(said.lines().next().unwrap_or_default(), status);
            assert!(begun.elapsed() < LIMIT * 5, "{status}");
            assert!(!said.contains("Access-Control"), "{said}");
        }
        let head = said(b"HEAD / HTTP/1.1\r\n\r\n", Audience::Everyone);
        assert!(head.contains("Content-Length: 8") && head.ends_with("\r\n\r\n"), "{head}");
    }

    #[test]
    fn other_hosts_and_origins_are_refused() {
        let table = [
            ("Host: 127.0.0.1:81", true),
            ("host:   localhost:81", true),
            ("Host: [::1]:81", false),
            ("Host: 127.0.0.1:81\r\nOrigin: http://127.0.0.1:81", true),
            ("Host: 127.0.0.1:81\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors", true),
            ("Host: 127.0.0.1:81\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate", true),
            ("Host: 127.0.0.1:81\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors", false),
            ("Host: 127.0.0.1:81\r\nSec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors", false),
            ("Host: 127.0.0.1:81\r\nOrigin: http://example.com", false),
            ("Host: 127.0.0.1:81\r\nOrigin: https://127.0.0.1:81", false),
            ("Host: 127.0.0.1:81\r\nOrigin: http://127.0.0.1:82", false),
            ("Host: 127.0.0.1:81\r\nOrigin: null", false),
            ("Host: example.com:81", false),
            ("Host: 127.0.0.1:81\r\nHost: example.com:81", false),
            ("Host: 127.0.0.1.example.com:81", false),
            ("Host: localhost", false),
            ("X: y", false),
        ];
        let audience = Audience::ThisMachine("127.0.0.1:81".parse().expect("an address"));
        for (headers, is_allowed) in table {
            let head = format!("GET / HTTP/1.1\r\n{headers}\r\n\r\n");
            let request = Request::parse(head.as_bytes()).expect("a request");
            assert_eq!(request.is_allowed(audience), is_allowed, "{headers}");
            assert!(request.is_allowed(Audience::Everyone), "{headers}");
        }
        let refused = said(b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", audience);
        assert!(refused.starts_with("HTTP/1.1 403 Forbidden"), "{refused}");
    }

    #[test]
    fn only_loopback_addresses_are_served() {
        for (text, expected) in [
            ("127.0.0.1:8080", Some("127.0.0.1:8080")),
            ("localhost:0", Some("127.0.0.1:0")),
            ("http://127.0.0.1:8080/", Some("127.0.0.1:8080")),
            ("[::1]:8080", Some("[::1]:8080")),
            ("127.1.2.3:8080", Some("127.1.2.3:8080")),
            ("0.0.0.0:8080", None),
            ("192.168.0.1:8080", None),
            ("[::]:8080", None),
            ("example.com:8080", None),
            ("8080", None),
            ("127.0.0.1", None),
        ] {
            let found = loopback(text).ok().map(|address| address.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_silent_client_does_not_keep_others_waiting() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let answers = |_: &str| {
            let (policy, body) = (String::new(), "the text".to_owned());
            Some(Answer { content_type: "text/plain", policy, body })
        };
        serve(listener, Audience::Everyone, "test", Box::new(answers)).expect("a thread");
        let ask = || {
            let mut stream = TcpStream::connect(address).expect("it listens");
            stream.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it is read");
            let mut said = String::new();
            let _ = stream.read_to_string(&mut said);
            said.lines().next().unwrap_or_default().to_owned()
        };
        let begun = Instant::now();
        let silent: Vec<TcpStream> =
            (1..CONNECTIONS).map(|_| TcpStream::connect(address).expect("it listens")).collect();
        assert_eq!(ask(), "HTTP/1.1 200 OK");
        assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
        drop(silent);
    }
}
