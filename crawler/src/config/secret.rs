//! What must not be printed: the hash seed, passwords, and the values of headers that carry credentials.

use std::{convert::Infallible, fmt, str::FromStr};

use super::{RawSettings, RawValue, SecretValue, value::HIDDEN};

/// Parts of the names of headers whose values are secrets.
const SECRET_HEADERS: [&str; 8] = ["auth", "cookie", "token", "secret", "pass", "key", "session", "credential"];

/// A text from the command line that may hold a secret: never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    /// The text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl FromStr for SecretText {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// Whether the value of a header of this name is a secret.
pub(super) fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_HEADERS.iter().any(|part| name.contains(part))
}

/// `value` of `key` as it may be printed.
pub(super) fn shown(key: &str, value: &RawValue) -> String {
    match (key, value.as_list()) {
        ("cache.hash_seed", _) if value.as_text() != Some("random") => HIDDEN.into(),
        ("fetch.credentials", Some(logins)) => {
            RawValue::List(logins.iter().map(|_| HIDDEN.to_owned()).collect()).to_string()
        }
        ("fetch.proxy", _) if value.as_text().is_some_and(|text| text.contains('@')) => HIDDEN.into(),
        ("schedule.heartbeat", _) if value.as_text() != Some("none") => HIDDEN.into(),
        ("fetch.headers", Some(headers)) => {
            RawValue::List(headers.iter().map(|header| shown_header(header)).collect()).to_string()
        }
        _ => value.to_string(),
    }
}

/// The settings without their secrets, and the names of the keys that had some.
pub(super) fn without_secrets(settings: &RawSettings) -> (RawSettings, Vec<&'static str>) {
    let mut open = settings.clone();
    let mut left_out = Vec::new();
    if let Some(SecretValue(seed)) = &settings.cache.hash_seed
        && seed.as_text() != Some("random")
    {
        open.cache.hash_seed = None;
        left_out.push("cache.hash_seed");
    }
    if let Some(headers) = settings.fetch.headers.as_ref().and_then(|SecretValue(headers)| headers.as_list()) {
        let kept: Vec<_> = headers.iter().filter(|header| shown_header(header) == **header).cloned().collect();
        if kept.len() < headers.len() {
            left_out.push("fetch.headers");
        }
        open.fetch.headers = Some(SecretValue(RawValue::List(kept)));
    }
    let logins = settings.fetch.credentials.as_ref().and_then(|SecretValue(logins)| logins.as_list());
    if logins.is_some_and(|logins| !logins.is_empty()) {
        open.fetch.credentials = None;
        left_out.push("fetch.credentials");
    }
    let proxy = settings.fetch.proxy.as_ref().and_then(|SecretValue(proxy)| proxy.as_text());
    if proxy.is_some_and(|proxy| proxy.contains('@')) {
        open.fetch.proxy = None;
        left_out.push("fetch.proxy");
    }
    let heartbeat = settings.schedule.heartbeat.as_ref().and_then(|SecretValue(url)| url.as_text());
    if heartbeat.is_some_and(|url| url != "none") {
        open.schedule.heartbeat = None;
        left_out.push("schedule.heartbeat");
    }
    (open, left_out)
}

/// A header with its value hidden when it may be a secret; all of it when it is no header.
fn shown_header(header: &str) -> String {
    match header.split_once(':') {
        Some((name, _)) if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') => HIDDEN.into(),
        Some((name, _)) if is_secret_header(name) => format!("{name}: {HIDDEN}"),
        Some(_) => header.to_owned(),
        None => HIDDEN.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_what_logs_in() {
        let headers = ["X-Team: docs", "Cookie: id=1", "Authorization Bearer x", "Authorization=Bearer x: y"];
        let value = RawValue::List(headers.map(str::to_owned).into());
        let text = shown("fetch.headers", &value);
        assert_eq!(text, r#"["X-Team: docs", "Cookie: (secret)", "(secret)", "(secret)"]"#);
        let logins = RawValue::List(vec!["http://bob:s3cr3t@h".to_owned()]);
        assert_eq!(shown("fetch.credentials", &logins), r#"["(secret)"]"#);
        assert_eq!(shown("cache.hash_seed", &RawValue::text("abc")), HIDDEN);
        assert_eq!(shown("cache.hash_seed", &RawValue::text("random")), "\"random\"");
        assert_eq!(shown("schedule.heartbeat", &RawValue::text("https://h/s3cr3t")), HIDDEN);
        assert_eq!(shown("schedule.heartbeat", &RawValue::text("none")), "\"none\"");
        assert_eq!(format!("{:?}", SecretValue::new(value)), HIDDEN);
    }
}
