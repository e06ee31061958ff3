//! The lines of a robots.txt: which bytes count, where lines end, and what each one says.
//!
//! Grammar: RFC 9309, 2.2. Beyond it, as Google's parser does: any ASCII space around key and value, a missing colon
//! where exactly two words stand on the line, and frequent typos of the keys. No-break spaces, which come with pasted
//! text, count as space too.

use std::borrow::Cow;

/// How much of a robots.txt is read, in bytes: the least that RFC 9309, 2.5 asks for.
pub const MAX_BYTES: usize = 500 * 1024;

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

/// One line that says something, without its comment and the space around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RobotsLine<'a> {
    /// As written.
    pub(super) text: &'a [u8],
    pub(super) field: Field,
    /// What follows the colon.
    pub(super) value: &'a [u8],
}

const NO_BREAK_SPACE: &[u8] = "\u{a0}".as_bytes();

const KEYS: [(&str, Field); 16] = [
    ("disallow", Field::Disallow),
    ("allow", Field::Allow),
    ("user-agent", Field::UserAgent),
    ("sitemap", Field::Sitemap),
    ("crawl-delay", Field::CrawlDelay),
    ("useragent", Field::UserAgent),
    ("user agent", Field::UserAgent),
    ("dissallow", Field::Disallow),
    ("dissalow", Field::Disallow),
    ("disalow", Field::Disallow),
    ("diasllow", Field::Disallow),
    ("disallaw", Field::Disallow),
    ("desallow", Field::Disallow),
    ("site-map", Field::Sitemap),
    ("crawldelay", Field::CrawlDelay),
    ("crawl delay", Field::CrawlDelay),
];

/// The part of a body that is read: at most [`MAX_BYTES`], no byte order mark, and no line cut in two (a rule cut short
/// would forbid more). UTF-16 is unpacked where its byte order mark announces it.
pub(super) fn readable(body: &[u8]) -> Cow<'_, [u8]> {
    let read = &body[..body.len().min(MAX_BYTES)];
    let text = decoded(read);
    if read.len() == body.len() {
        return text;
    }
    let end = text.iter().rposition(|byte| ends_line(*byte)).map_or(0, |last| last + 1);
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
        Cow::Owned(mut text) => {
            text.truncate(end);
            Cow::Owned(text)
        }
    }
}

/// The lines of a readable text that say something a crawler understands, in order.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = RobotsLine<'_>> {
    text.split(|byte| ends_line(*byte)).filter_map(line)
}

fn decoded(body: &[u8]) -> Cow<'_, [u8]> {
    match encoding_rs::Encoding::for_bom(body) {
        Some((encoding, mark)) if encoding != encoding_rs::UTF_8 => {
            let (text, _) = encoding.decode_without_bom_handling(&body[mark..]);
            Cow::Owned(text.into_owned().into_bytes())
        }
        Some((_, mark)) => Cow::Borrowed(&body[mark..]),
        None => Cow::Borrowed(body),
    }
}

fn ends_line(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn line(raw: &[u8]) -> Option<RobotsLine<'_>> {
    let uncommented = raw.iter().position(|byte| *byte == b'#').map_or(raw, |comment| &raw[..comment]);
    let text = trim_start(trim_end(uncommented));
    let (key, value) = key_and_value(text)?;
    let (_, field) = KEYS.iter().find(|(name, _)| key.eq_ignore_ascii_case(name.as_bytes()))?;
    Some(RobotsLine { text, field: *field, value })
}

fn key_and_value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if let Some(colon) = text.iter().position(|byte| *byte == b':') {
        return Some((trim_end(&text[..colon]), trim_start(&text[colon + 1..])));
    }
    let gap = text.iter().position(u8::is_ascii_whitespace)?;
    let value = text[gap..].trim_ascii_start();
    (!value.iter().any(u8::is_ascii_whitespace)).then_some((&text[..gap], value))
}

fn trim_start(text: &[u8]) -> &[u8] {
    let mut trimmed = text.trim_ascii_start();
    while let Some(rest) = trimmed.strip_prefix(NO_BREAK_SPACE) {
        trimmed = rest.trim_ascii_start();
    }
    trimmed
}

fn trim_end(text: &[u8]) -> &[u8] {
    let mut trimmed = text.trim_ascii_end();
    while let Some(rest) = trimmed.strip_suffix(NO_BREAK_SPACE) {
        trimmed = rest.trim_ascii_end();
    }
    trimmed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Field, String)> {
        let text = readable(text.as_bytes());
        lines(&text).map(|line| (line.field, String::from_utf8_lossy(line.value).into_owned())).collect()
    }

    #[test]
    fn lines_end_with_cr_lf_or_both() {
        let expected = [(Field::Allow, "/a".to_owned()), (Field::Disallow, "/b".to_owned())];
        for text in [
            "allow:/a\ndisallow:/b",
            "allow:/a\rdisallow:/b\r",
            "allow:/a\r\n\r\ndisallow:/b\r\n",
            "\n\rallow:/a\n\rdisallow:/b",
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    #[test]
    fn keys_have_no_case_and_space_does_not_count() {
        for text in [
            "DISALLOW: /x",
            "  DisAllow\t : \t/x  ",
            "disallow /x",
            "disallow\t/x",
            "disallow: /x # why",
            "disallow:/x#why",
        ] {
            assert_eq!(read(text), [(Field::Disallow, "/x".to_owned())], "{text:?}");
        }
    }

    #[test]
    fn typos_of_keys_are_understood() {
        for (key, field) in KEYS {
            assert_eq!(read(&format!("{key}: x")), [(field, "x".to_owned())], "{key}");
        }
    }

    #[test]
    fn other_lines_say_nothing() {
        for text in [
            "",
            "# disallow: /",
            ": /x",
            "disallow",
            "disallow / x",
            "user agent harry potter",
            "<p>disallow: /",
            "host: h",
            "allowed: /x",
        ] {
            assert_eq!(read(text), [], "{text:?}");
        }
    }

    #[test]
    fn a_line_is_kept_as_written() {
        let kept: Vec<_> = lines(b" Disallow :  /x  # not this").map(|line| line.text).collect();
        assert_eq!(kept, [b"Disallow :  /x"]);
    }

    #[test]
    fn byte_order_marks_are_dropped() {
        assert_eq!(read("\u{feff}allow: /x"), [(Field::Allow, "/x".to_owned())]);
        for mark in [[0xff, 0xfe], [0xfe, 0xff]] {
            let unit = |unit: u16| if mark[0] == 0xff { unit.to_le_bytes() } else { unit.to_be_bytes() };
            let body: Vec<u8> = mark.into_iter().chain("allow: /ä".encode_utf16().flat_map(unit)).collect();
            let text = readable(&body);
            assert_eq!(lines(&text).map(|line| line.value).collect::<Vec<_>>(), ["/ä".as_bytes()]);
        }
    }

    #[test]
    fn only_the_first_500_kib_count_and_no_half_line() {
        let fitting = "disallow: /x\n".repeat(MAX_BYTES / 13);
        let over = format!("{fitting}disallow: /yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\ndisallow: /z\n");
        assert_eq!(readable(fitting.as_bytes()).len(), fitting.len());
        assert_eq!(readable(over.as_bytes()).len(), fitting.len());
        let one_line = "x".repeat(MAX_BYTES + 1);
        assert!(readable(one_line.as_bytes()).is_empty());
        assert_eq!(readable(&one_line.as_bytes()[1..]).len(), MAX_BYTES);
    }
}
