//! `[fetch]`.

use std::{fmt, num::NonZeroU64, path::PathBuf, time::Duration};

use super::host::{private, resolution};
use crate::config::{
    reader::KeyReader,
    rules::{Count, DurationRange, Each, Parsed, Size, Unless},
    secret::is_secret_header,
};
use crate::{
    fetch::{http::ProxyRules, resolve::NameService},
    url::{Credentials, Origin, WebUrl},
};

/// Headers that the program sets itself.
const OWN_HEADERS: [&str; 8] =
    ["accept-encoding", "connection", "content-length", "host", "range", "transfer-encoding", "upgrade", "user-agent"];

const USER_AGENT: Parsed<UserAgent> = Parsed {
    allowed: "a name/version and a contact, such as \"name/1.0 (+https://example.org/bot)\"",
    parse: user_agent,
};

pub(super) const TYPES: Each<String> =
    Each(Parsed { allowed: "a media type such as \"application/pdf\" or \"image/*\"", parse: media_type });

const COOKIES: Parsed<CookieChoice> = Parsed { allowed: "\"off\", \"on\" or a file", parse: cookies };

const LANGUAGES: Parsed<String> = Parsed { allowed: "languages such as \"de, en;q=0.8\"", parse: languages };

const PROXY: Parsed<ProxyChoice> =
    Parsed { allowed: "\"env\", \"none\" or URL, such as \"http://proxy.example.org:3128\"", parse: proxy };

const RESOLVER: Parsed<NameService> = Parsed { allowed: "\"system\", \"dns\" or ADDRESS:PORT", parse: name_service };

/// Limits and identity of one request.
#[derive(Debug, Clone)]
pub struct FetchLimits {
    /// Who asks.
    pub user_agent: UserAgent,
    /// Headers sent to the origins of the start URLs.
    pub headers: Vec<Header>,
    /// User names and passwords, each for one origin.
    pub credentials: Vec<Login>,
    /// Which cookies are sent.
    pub cookies: CookieChoice,
    /// Which languages pages are wanted in.
    pub accept_language: Option<String>,
    /// What asks servers on our behalf.
    pub proxy: ProxyChoice,
    /// Hosts whose certificates are not checked.
    pub insecure_hosts: Vec<String>,
    /// Time to connect, TLS included.
    pub connect_timeout: Duration,
    /// Time from the request to the first byte of the answer.
    pub first_byte_timeout: Duration,
    /// Time for the whole request.
    pub total_timeout: Duration,
    /// Bytes a second that a body must come with, over twenty seconds.
    pub min_rate: Option<NonZeroU64>,
    /// Longest body in bytes, after decompression.
    pub max_body: u64,
    /// Largest growth in decompression, as a factor.
    pub max_expansion: u32,
    /// Media types whose bodies are read, beside HTML; all, if it is empty.
    pub types: Vec<String>,
    /// Redirects in a row.
    pub max_redirects: u32,
    /// Private addresses that may be asked: `CIDR`, `ADDRESS` or `NAME`, with `:PORT` or without.
    pub allow_private: Vec<String>,
    /// Who looks names up.
    pub resolver: NameService,
    /// `NAME:PORT:ADDRESS`, used instead of DNS.
    pub resolve: Vec<String>,
}

/// Which cookies are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CookieChoice {
    /// None.
    Off,
    /// Those that servers set.
    On,
    /// These too, with those of a file in the form of Netscape.
    File(PathBuf),
}

/// What asks servers on our behalf. A URL may hold a password, and does not print.
#[derive(Clone, PartialEq, Eq)]
pub enum ProxyChoice {
    /// Nothing.
    None,
    /// What the environment names.
    Environment,
    /// The proxy at this URL.
    At(String),
}

/// The User-Agent: a product token that robots.txt files can address, and a contact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserAgent {
    text: String,
    token_length: usize,
}

/// A user name and a password for all requests to one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// Scheme, name and port.
    pub origin: Origin,
    /// They never print.
    pub credentials: Credentials,
}

/// A header that the user gave; the value of one that logs in is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    /// As given.
    pub name: String,
    /// Visible ASCII and blanks.
    pub value: String,
}

impl fmt::Debug for ProxyChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Environment => "Environment",
            Self::At(_) => "At(…)",
        })
    }
}

impl UserAgent {
    /// The whole header.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What robots.txt files call us (RFC 9309, 2.2.1): the part before the `/`.
    pub fn product(&self) -> &str {
        &self.text[..self.token_length]
    }
}

impl Login {
    /// As the setting has it: `https://user:password@host`. To be stored, not shown.
    pub fn to_secret_text(&self) -> String {
        let root = WebUrl::parse(self.origin.as_str()).expect("an origin is a URL");
        root.with_credentials(&self.credentials).as_str().to_owned()
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if is_secret_header(&self.name) { "(secret)" } else { &self.value };
        write!(f, "{}: {value}", self.name)
    }
}

impl FetchLimits {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        let timeout = DurationRange(Duration::from_millis(1)..=Duration::from_hours(24));
        let headers = Each(Parsed { allowed: "\"Name: value\"", parse: header });
        let logins = Each(Parsed { allowed: "https://user:password@host", parse: login });
        let rate = Unless { word: "none", rule: Size(1..=1 << 40) };
        let networks = Each(Parsed { allowed: "CIDR, ADDRESS or NAME, with :PORT or without", parse: private });
        let names = Each(Parsed { allowed: "NAME:PORT:ADDRESS", parse: resolution });
        Self {
            user_agent: reader.read("fetch.user_agent", &USER_AGENT),
            headers: reader.read("fetch.headers", &headers),
            credentials: reader.read("fetch.credentials", &logins),
            cookies: reader.read("fetch.cookies", &COOKIES),
            accept_language: reader.read("fetch.accept_language", &Unless { word: "none", rule: LANGUAGES }),
            proxy: reader.read("fetch.proxy", &PROXY),
            insecure_hosts: reader.read("fetch.insecure_hosts", &Each(Parsed { allowed: "NAME", parse: host_name })),
            connect_timeout: reader.read("fetch.connect_timeout", &timeout),
            first_byte_timeout: reader.read("fetch.first_byte_timeout", &timeout),
            total_timeout: reader.read("fetch.total_timeout", &timeout),
            min_rate: reader.read("fetch.min_rate", &rate).and_then(NonZeroU64::new),
            max_body: reader.read("fetch.max_body", &Size(1 << 10..=4 << 30)),
            max_expansion: reader.read("fetch.max_expansion", &Count(1..=100_000)),
            types: reader.read("fetch.types", &TYPES),
            max_redirects: reader.read("fetch.max_redirects", &Count(0..=50)),
            allow_private: reader.read("fetch.allow_private", &networks),
            resolver: reader.read("fetch.resolver", &RESOLVER),
            resolve: reader.read("fetch.resolve", &names),
        }
    }
}

fn cookies(text: &str) -> Result<CookieChoice, String> {
    match text {
        "off" => Ok(CookieChoice::Off),
        "on" => Ok(CookieChoice::On),
        "" => Err("there is no name of a file".into()),
        file if file.contains(char::is_control) => Err("it is no name of a file".into()),
        file => Ok(CookieChoice::File(file.into())),
    }
}

fn languages(text: &str) -> Result<String, String> {
    let is_range = |text: &str| {
        let (tag, weight) = text.split_once(';').unwrap_or((text, "q=1"));
        let tag_letter = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f64>().ok());
        let tag = tag.trim();
        (tag == "*" || !tag.is_empty() && tag.bytes().all(tag_letter))
            && weight.is_some_and(|q| (0.0..=1.0).contains(&q))
    };
    if text.split(',').all(|part| is_range(part.trim())) {
        Ok(text.trim().to_owned())
    } else {
        Err("it names no language".into())
    }
}

/// An error never repeats the text: it may hold a password.
fn proxy(text: &str) -> Result<ProxyChoice, String> {
    match text {
        "env" => Ok(ProxyChoice::Environment),
        "none" => Ok(ProxyChoice::None),
        url => match ProxyRules::all(url) {
            Ok(_) => Ok(ProxyChoice::At(url.to_owned())),
            Err(error) => Err(error.to_string()),
        },
    }
}

fn host_name(text: &str) -> Result<String, String> {
    let wrong = || "it is no name of a host (without scheme and port)".to_owned();
    let name = text.trim().trim_start_matches('[').trim_end_matches(']');
    let shown = if name.contains(':') { format!("[{name}]") } else { name.to_owned() };
    let url = WebUrl::parse(&format!("https://{shown}/")).map_err(|_| wrong())?;
    let is_name = url.port() == 443
        && url.path_and_query() == "/"
        && !text.contains(['/', '@', '?', '#'])
        && !text.contains(char::is_control);
    if is_name { Ok(url.host().trim_start_matches('[').trim_end_matches(']').to_owned()) } else { Err(wrong()) }
}

fn name_service(text: &str) -> Result<NameService, String> {
    text.parse().map_err(|_| format!("{text:?} is no resolver"))
}

fn media_type(text: &str) -> Result<String, String> {
    let is_token = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    match text.split_once('/') {
        Some((kind, subtype)) if is_token(kind) && (subtype == "*" || is_token(subtype)) => {
            Ok(text.to_ascii_lowercase())
        }
        _ => Err("it is no type and subtype, with a slash between".into()),
    }
}

fn user_agent(text: &str) -> Result<UserAgent, String> {
    let text = text.replace("{version}", env!("CARGO_PKG_VERSION"));
    let token_length = text.find('/').ok_or("there is no / after the product name")?;
    let is_token = |b: u8| b.is_ascii_alphabetic() || b == b'-' || b == b'_';
    if token_length == 0 || !text[..token_length].bytes().all(is_token) {
        return Err("the product name has characters other than letters, - and _".into());
    }
    if !text.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return Err("it has characters other than visible ASCII".into());
    }
    let contact = ["http://", "https://"].iter().any(|scheme| text.contains(scheme));
    let mail = text.split([' ', '(', ')', '<', '>', ';', ',']).any(is_mail_address);
    if contact || mail {
        Ok(UserAgent { text, token_length })
    } else {
        Err("there is no contact URL or mail address".into())
    }
}

fn is_mail_address(word: &str) -> bool {
    let word = word.trim_start_matches('+').trim_start_matches("mailto:");
    word.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.') && !host.ends_with('.'))
}

/// Reads `Name: value` (RFC 9110, 5.1 and 5.5). An error never repeats what may be secret.
fn header(text: &str) -> Result<Header, String> {
    let (name, value) = text.split_once(':').ok_or("there is no colon after the name")?;
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err("this is not the name of a header".into());
    }
    if OWN_HEADERS.contains(&&*name.to_ascii_lowercase()) {
        return Err(format!("{name} is set by the program"));
    }
    let value = value.trim();
    if !value.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return Err("the value has characters other than visible ASCII".into());
    }
    Ok(Header { name: name.to_owned(), value: value.to_owned() })
}

/// Reads an origin with a user name. An error never repeats the text.
fn login(text: &str) -> Result<Login, String> {
    let (url, credentials) = WebUrl::parse(text).map_err(|error| error.to_string())?.split_credentials();
    if url.path_and_query() != "/" {
        return Err("it has more than scheme, login, host and port".into());
    }
    let credentials = credentials.ok_or("there is no user name")?;
    Ok(Login { origin: url.origin(), credentials })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_agent_has_a_product_and_a_contact() {
        let default = user_agent("webloom/{version} (+https://webloom.example/bot)").unwrap();
        assert_eq!(default.product(), "webloom");
        assert!(default.as_str().starts_with(concat!("webloom/", env!("CARGO_PKG_VERSION"), " (")));
        for text in ["a/1 (x@example.org)", "a/1 mailto:x@example.org", "My-Bot/2 http://example.org"] {
            assert_eq!(user_agent(text).unwrap().as_str(), text);
        }
        for text in
            ["", "a", "a/1", "a/1 (x@y)", "bot2/1 http://x", "/1 http://x", "a b/1 http://x", "a/1 http://\u{fc}"]
        {
            user_agent(text).unwrap_err();
        }
    }

    #[test]
    fn a_login_is_of_one_origin() {
        let found = login("https://bob:s%40cret@h:444").unwrap();
        assert_eq!((found.origin.as_str(), &*found.to_secret_text()), ("https://h:444", "https://bob:s%40cret@h:444/"));
        assert_eq!(login(&found.to_secret_text()), Ok(found.clone()));
        assert!(!format!("{found:?}").contains("cret@"), "{found:?}");
        for text in ["", "bob:secret", "https://h", "https://bob:secret@h/a", "ftp://bob:secret@h", "bob:secret@h"] {
            assert!(!login(text).unwrap_err().contains("secret"), "{text}");
        }
    }

    #[test]
    fn headers_have_a_name_and_a_value() {
        let found = header("X-Team:  docs ").unwrap();
        assert_eq!((&*found.name, &*found.value), ("X-Team", "docs"));
        assert_eq!(format!("{:?}", header("authorization: Basic eDp5").unwrap()), "authorization: (secret)");
        for text in ["", "x", ": y", "a b: c", "Host: x", "user-agent: x", "a: b\nc: d"] {
            header(text).unwrap_err();
        }
    }
}
