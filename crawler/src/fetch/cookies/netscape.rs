//! A jar as a text file in the form that Netscape's browser wrote, and curl and the extensions of browsers do: seven fields a line, with
//! tabs between.

use std::{collections::BTreeSet, fmt::Write as _};

use cookie_store::{Cookie, CookieDomain, CookieExpiration};
use jiff::{Timestamp, fmt::rfc2822::DateTimePrinter};
use thiserror::Error;
use url::Url;

use super::{CookieJar, is_public_suffix, pair};

const FIRST_LINE: &str = "# Netscape HTTP Cookie File";

/// Marks a cookie that scripts may not see. Such a line is no comment.
const HTTP_ONLY: &str = "#HttpOnly_";

/// What was in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CookiesRead {
    /// Cookies that are in the jar now.
    pub kept: usize,
    /// Cookies that have expired.
    pub expired: usize,
}

/// Why a file is none of cookies. The text of a line is never shown.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadCookies {
    /// A line that is none.
    #[error(
        "line {0} is no cookie: give a file in the form of Netscape, as curl and cookies.txt extensions of browsers write it (seven fields with tabs between)"
    )]
    Line(usize),
    /// No cookie at all.
    #[error("it has no cookie")]
    Empty,
}

impl CookieJar {
    /// Puts the cookies of a file into the jar; each replaces one of its name, domain and path. Nothing is changed where a line is none.
    ///
    /// # Errors
    /// [`BadCookies`] where a line has other fields, or there is no cookie.
    pub fn read(&self, text: &str) -> Result<CookiesRead, BadCookies> {
        let lines = text.lines().map(|line| line.trim_end_matches('\r')).enumerate();
        let lines = lines.filter(|(_, line)| is_cookie(line));
        let cookies = lines.map(|(number, line)| cookie(line).ok_or(BadCookies::Line(number + 1)));
        let cookies: Vec<_> = cookies.collect::<Result<_, _>>()?;
        if cookies.is_empty() {
            return Err(BadCookies::Empty);
        }
        let mut read = CookiesRead::default();
        for (cookie, url) in cookies {
            if cookie.is_expired() {
                read.expired += 1;
            } else if self.insert(cookie, &url) {
                read.kept += 1;
            }
        }
        Ok(read)
    }

    /// Puts the cookies of a file of ours into the jar, and leaves out what is none.
    pub fn read_own(&self, text: &str) {
        for line in text.lines().filter(|line| is_cookie(line)) {
            if let Some((cookie, url)) = cookie(line) {
                self.insert(cookie, &url);
            } else {
                tracing::warn!("a cookie that was kept cannot be read, and is left out");
            }
        }
    }

    /// The cookies that have not expired, as a file.
    pub fn text(&self) -> String {
        let jar = self.locked();
        let mut lines: Vec<String> = jar.store.iter_unexpired().filter_map(line).collect();
        lines.sort_unstable();
        lines.iter().fold(format!("{FIRST_LINE}\n"), |mut text, line| {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{line}");
            text
        })
    }
}

/// The hosts that a file has cookies for; a dot in front means all below a name, too.
pub fn domains(text: &str) -> BTreeSet<Box<str>> {
    let domain = |line: &str| {
        let line = line.strip_prefix(HTTP_ONLY).unwrap_or(line);
        let mut fields = line.split('\t');
        let host = fields.next()?.trim_start_matches('.').to_ascii_lowercase();
        let is_wide = fields.next().and_then(flag) == Some(true) && !is_public_suffix(&host);
        Some(if is_wide { format!(".{host}") } else { host }.into())
    };
    text.lines().filter(|line| is_cookie(line)).filter_map(domain).collect()
}

/// Whether a line is no comment.
fn is_cookie(line: &str) -> bool {
    !line.trim().is_empty() && (!line.starts_with('#') || line.starts_with(HTTP_ONLY))
}

/// The cookie of a line, and a URL that could have set it.
fn cookie(line: &str) -> Option<(Cookie<'static>, Url)> {
    let (line, http_only) = line.strip_prefix(HTTP_ONLY).map_or((line, ""), |line| (line, "; HttpOnly"));
    let fields: Vec<_> = line.split('\t').collect();
    let [domain, with_subdomains, path, secure, expires, name, value @ ..] = &*fields else { return None };
    let value = value.first().copied().unwrap_or_default();
    let host = domain.trim_start_matches('.').to_ascii_lowercase();
    if fields.len() > 7 || host.is_empty() || name.is_empty() || !path.starts_with('/') || value.contains(';') {
        return None;
    }
    let mut url = Url::parse(&format!("https://{host}/")).ok()?;
    url.set_path(path);
    let with_subdomains = flag(with_subdomains)? && url.domain().is_some() && !is_public_suffix(&host);
    let domain = if with_subdomains { format!("; Domain={host}") } else { String::new() };
    let secure = if flag(secure)? { "; Secure" } else { "" };
    let expires = match expires.trim().parse::<f64>().ok()? {
        0.0 => String::new(),
        seconds => format!("; Expires={}", date(seconds)?),
    };
    let text = format!("{name}={value}; Path={path}{domain}{secure}{http_only}{expires}");
    Cookie::parse(text, &url).ok().map(|cookie| (cookie, url))
}

/// A moment as headers have it; what is later than they can say is the last that they can.
fn date(seconds: f64) -> Option<String> {
    const LAST: f64 = 253_402_000_000.0;
    #[expect(clippy::cast_possible_truncation, reason = "it is within range")]
    let moment = Timestamp::from_second(seconds.clamp(1.0, LAST) as i64).ok()?;
    DateTimePrinter::new().timestamp_to_rfc9110_string(&moment).ok()
}

fn flag(text: &str) -> Option<bool> {
    match () {
        () if text.eq_ignore_ascii_case("true") => Some(true),
        () if text.eq_ignore_ascii_case("false") => Some(false),
        () => None,
    }
}

fn line(cookie: &Cookie<'_>) -> Option<String> {
    let (domain, with_subdomains) = match &cookie.domain {
        CookieDomain::HostOnly(host) => (host.clone(), "FALSE"),
        CookieDomain::Suffix(domain) => (format!(".{domain}"), "TRUE"),
        CookieDomain::NotPresent | CookieDomain::Empty => return None,
    };
    let http_only = if cookie.http_only() == Some(true) { HTTP_ONLY } else { "" };
    let secure = if cookie.secure() == Some(true) { "TRUE" } else { "FALSE" };
    let expires = match &cookie.expires {
        CookieExpiration::AtUtc(moment) => moment.unix_timestamp(),
        CookieExpiration::SessionEnd => 0,
    };
    let path: &str = &cookie.path;
    let (name, value) = pair(cookie).split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))?;
    Some(format!("{http_only}{domain}\t{with_subdomains}\t{path}\t{secure}\t{expires}\t{name}\t{value}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::WebUrl;

    const FILE: &str = "# Netscape HTTP Cookie File\n\n\
        #HttpOnly_.example.org\tTRUE\t/\tTRUE\t4102444800\tsid\ts=3c\n\
        shop.example.org\tFALSE\t/cart\tFALSE\t0\tn\t1\r\n\
        127.0.0.1\tTRUE\t/\tFALSE\t0\tempty\t\n\
        .co.uk\tTRUE\t/\tFALSE\t0\twide\t1\n\
        old.example.org\tFALSE\t/\tFALSE\t1000\tgone\t1\n";

    fn sent(jar: &CookieJar, to: &str) -> String {
        let header = jar.header(&WebUrl::parse(to).unwrap());
        header.map(|header| String::from_utf8(header.value.into()).unwrap()).unwrap_or_default()
    }

    #[test]
    fn a_file_is_read_and_written_back() {
        let jar = CookieJar::default();
        assert_eq!(jar.read(FILE), Ok(CookiesRead { kept: 4, expired: 1 }));
        let check = |jar: &CookieJar| {
            assert_eq!(sent(jar, "https://shop.example.org/cart/1"), "n=1; sid=s=3c");
            assert_eq!(sent(jar, "http://shop.example.org/cart"), "n=1", "the other is secure");
            assert_eq!(sent(jar, "http://127.0.0.1:81/"), "empty=");
            assert_eq!(sent(jar, "http://a.co.uk/"), "", "its domain is a public suffix");
        };
        check(&jar);
        let text = jar.text();
        assert!(text.contains("#HttpOnly_.example.org\tTRUE\t/\tTRUE\t4102444800\tsid\ts=3c\n"), "{text}");
        let again = CookieJar::default();
        again.read(&text).unwrap();
        check(&again);
        assert_eq!(again.text(), text);
    }

    #[test]
    fn paths_stay_paths_and_a_line_that_is_none_costs_no_other() {
        let jar = CookieJar::default();
        let set = |cookie: &str| ("set-cookie".into(), cookie.as_bytes().into());
        let headers = vec![set("a=1"), set("b=2; Domain=example.org"), set("c=3; Path=//evil.example/x")];
        jar.keep(&WebUrl::parse("https://www.example.org//evil.example/page").unwrap(), &headers);
        let again = CookieJar::default();
        again.read_own(&(jar.text() + "no cookie\n"));
        assert_eq!(again.text(), jar.text());
        assert_eq!(sent(&again, "https://www.example.org//evil.example/y"), "a=1; b=2");
        assert_eq!(sent(&again, "https://evil.example/"), "");
        let file = ".a.example\tTRUE\t/\tFALSE\t0\tn\tv\nb.example\tFALSE\t/\tFALSE\t0\tn\tv\n# c.example\n";
        assert_eq!(domains(file).iter().map(|domain| &**domain).collect::<Vec<_>>(), [".a.example", "b.example"]);
    }

    #[test]
    fn what_is_no_file_of_cookies_is_refused_without_showing_it() {
        let jar = CookieJar::default();
        for (text, error) in [
            ("", BadCookies::Empty),
            ("# nothing\n", BadCookies::Empty),
            ("[{\"name\":\"s3cret\"}]", BadCookies::Line(1)),
            ("#\nh.org FALSE / FALSE 0 a s3cret", BadCookies::Line(2)),
            ("h.org\tFALSE\t/\tFALSE\tsoon\ta\ts3cret", BadCookies::Line(1)),
            ("h.org\tFALSE\t/\tFALSE\t0\ta\ts3cret\tx", BadCookies::Line(1)),
            ("h.org\tFALSE\t/\tFALSE\t0\ta\tb; Domain=org", BadCookies::Line(1)),
        ] {
            let refused = jar.read(text).unwrap_err();
            assert!(refused == error && !refused.to_string().contains("s3cret"), "{text}: {refused}");
        }
        assert_eq!(jar.text(), format!("{FIRST_LINE}\n"));
    }
}
