//! Which encoding a page's bytes are in, and the bytes in UTF-8.
//!
//! The order is the HTML standard's (13.2.3.2): byte order mark, `Content-Type` header, meta prescan, then a guess.
//! UTF-8 is not even validated here: an ASCII byte is never part of a longer sequence, so tags are found all the same,
//! and only the few attribute values kept are checked.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use super::prescan::prescan;
use crate::url::WebUrl;

/// How many bytes, from the first that is not ASCII, a guess looks at.
const SAMPLE: usize = 64 * 1024;

/// A page that can be tokenised.
#[derive(Debug)]
pub(super) struct DecodedText<'a> {
    /// The page in UTF-8, without a byte order mark. Not copied if it was UTF-8 or ASCII; it may then hold malformed
    /// sequences.
    pub(super) html: Cow<'a, [u8]>,
    /// The encoding's name in the Encoding standard (`UTF-8`, `windows-1252`, …).
    pub(super) charset: &'static str,
}

/// Finds the encoding and decodes.
pub(super) fn decode<'a>(body: &'a [u8], content_type: Option<&str>, url: &WebUrl) -> DecodedText<'a> {
    let (encoding, body) = match Encoding::for_bom(body) {
        Some((encoding, length)) => (encoding, &body[length..]),
        None => (without_mark(body, content_type, url), body),
    };
    DecodedText { html: to_utf8(encoding, body), charset: encoding.name() }
}

fn without_mark(body: &[u8], content_type: Option<&str>, url: &WebUrl) -> &'static Encoding {
    content_type.and_then(header_charset).or_else(|| prescan(body)).unwrap_or_else(|| guess(body, url))
}

fn to_utf8<'a>(encoding: &'static Encoding, body: &'a [u8]) -> Cow<'a, [u8]> {
    if encoding == UTF_8 {
        return Cow::Borrowed(body);
    }
    match encoding.decode_without_bom_handling(body).0 {
        Cow::Borrowed(same) => Cow::Borrowed(same.as_bytes()),
        Cow::Owned(decoded) => Cow::Owned(decoded.into_bytes()),
    }
}

/// The `charset` parameter of a `Content-Type`, if it names an encoding.
fn header_charset(content_type: &str) -> Option<&'static Encoding> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        if name.trim().eq_ignore_ascii_case("charset") { Encoding::for_label(value.as_bytes()) } else { None }
    })
}

/// Undeclared: UTF-8 if it is valid (as far as it goes: a body may be cut short), windows-1252 if it is all ASCII, else
/// what the letters look like.
fn guess(body: &[u8], url: &WebUrl) -> &'static Encoding {
    let ascii = Encoding::ascii_valid_up_to(body);
    let rest = &body[ascii..];
    if rest.is_empty() {
        return WINDOWS_1252;
    }
    if std::str::from_utf8(rest).map_or_else(|error| error.error_len().is_none(), |_| true) {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&rest[..rest.len().min(SAMPLE)], true);
    detector.guess(top_level_domain(url), Utf8Detection::Deny)
}

/// The last label of the host, in the form the detector asks for.
fn top_level_domain(url: &WebUrl) -> Option<&[u8]> {
    let label = url.host().rsplit('.').next()?.as_bytes();
    label.iter().all(u8::is_ascii_lowercase).then_some(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(body: &[u8], content_type: Option<&str>) -> (String, &'static str) {
        let url = WebUrl::parse("http://example.ru/").unwrap();
        let decoded = decode(body, content_type, &url);
        (String::from_utf8_lossy(&decoded.html).into_owned(), decoded.charset)
    }

    fn charset(body: &[u8], content_type: Option<&str>) -> &'static str {
        decoded(body, content_type).1
    }

    #[test]
    fn a_byte_order_mark_beats_the_header_and_is_dropped() {
        assert_eq!(decoded(b"\xef\xbb\xbfx", Some("text/html; charset=koi8-r")), ("x".into(), "UTF-8"));
        assert_eq!(decoded(b"\xff\xfex\0", Some("text/html; charset=utf-8")), ("x".into(), "UTF-16LE"));
        assert_eq!(decoded(b"\xfe\xff\0x", None), ("x".into(), "UTF-16BE"));
    }

    #[test]
    fn the_header_beats_the_meta_tag_if_it_names_an_encoding() {
        let body = b"<meta charset=koi8-r>";
        for header in ["text/html;charset=gbk", "text/html; Charset=\"GBK\"", "text/html; a=b; charset = gbk "] {
            assert_eq!(charset(body, Some(header)), "GBK", "{header}");
        }
        for header in ["text/html", "text/html; charset=nonsense", "text/html; charset", "charset=gbk"] {
            assert_eq!(charset(body, Some(header)), "KOI8-R", "{header}");
        }
    }

    #[test]
    fn undeclared_pages_are_guessed() {
        assert_eq!(charset(b"plain", None), "windows-1252");
        assert_eq!(charset("gr\u{fc}n".as_bytes(), None), "UTF-8");
        assert_eq!(charset(&"gr\u{fc}n \u{20ac}".as_bytes()[..7], None), "UTF-8");
        let (russian, _, _) = encoding_rs::WINDOWS_1251.encode("Съешь ещё этих мягких французских булок");
        assert_eq!(decoded(&russian, None), ("Съешь ещё этих мягких французских булок".into(), "windows-1251"));
    }

    #[test]
    fn utf_8_and_ascii_are_not_copied() {
        let url = WebUrl::parse("http://h/").unwrap();
        let borrowed = |body: &[u8], kind| matches!(decode(body, kind, &url).html, Cow::Borrowed(_));
        assert!(borrowed("\u{fc}\u{e4}".as_bytes(), None));
        assert!(borrowed(b"ascii", Some("text/html; charset=iso-8859-1")));
        assert!(borrowed(b"\xef\xbb\xbf\xff", None));
        assert!(!borrowed(b"\xe4", Some("text/html; charset=iso-8859-1")));
    }

    #[test]
    fn the_guess_takes_any_host() {
        for host in ["http://127.0.0.1/", "http://[::1]/", "http://h/", "http://a.xn--p1ai/", "http://a.de./"] {
            decode(b"\xe4\xff\xfe", None, &WebUrl::parse(host).unwrap());
        }
    }
}
