//! [`refresh_target`]: where a page sends its reader by itself.

/// The URL in the `content` of `<meta http-equiv=refresh>`, as it is written there; none where the page only loads itself again,
/// and where browsers do nothing (HTML standard, 4.2.5.3, "shared declarative refresh steps").
pub(super) fn refresh_target(content: &[u8]) -> Option<&[u8]> {
    let content = content.trim_ascii_start();
    let rest = skip(content, |byte| byte.is_ascii_digit());
    if rest.len() == content.len() && !rest.starts_with(b".") {
        return None;
    }
    let rest = skip(rest, |byte| byte.is_ascii_digit() || byte == b'.');
    let (first, _) = rest.split_first()?;
    if !matches!(first, b';' | b',') && !first.is_ascii_whitespace() {
        return None;
    }
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix(b";").or_else(|| rest.strip_prefix(b",")).unwrap_or(rest).trim_ascii_start();
    let url = match after_name(rest) {
        UrlPrefix::Read(url) => unquoted(url),
        UrlPrefix::None => unquoted(rest),
        UrlPrefix::Begun => rest,
    };
    (!url.trim_ascii().is_empty()).then_some(url)
}

/// How much of `url=` there is.
enum UrlPrefix<'a> {
    /// All of it; what follows.
    Read(&'a [u8]),
    /// Not even its first letter.
    None,
    /// Its first letter, but not all of it: no quotes are expected then.
    Begun,
}

fn after_name(rest: &[u8]) -> UrlPrefix<'_> {
    if !rest.first().is_some_and(|byte| byte.eq_ignore_ascii_case(&b'u')) {
        return UrlPrefix::None;
    }
    let whole = rest.split_at_checked(3).filter(|(name, _)| name.eq_ignore_ascii_case(b"url"));
    let value = whole.and_then(|(_, rest)| rest.trim_ascii_start().strip_prefix(b"="));
    value.map_or(UrlPrefix::Begun, |value| UrlPrefix::Read(value.trim_ascii_start()))
}

/// Without the quote it begins with, and what follows the next one like it.
fn unquoted(url: &[u8]) -> &[u8] {
    let Some((quote @ (b'\'' | b'"'), inside)) = url.split_first() else { return url };
    inside.split(|byte| byte == quote).next().unwrap_or_default()
}

fn skip(bytes: &[u8], passes: impl Fn(u8) -> bool) -> &[u8] {
    let length = bytes.iter().position(|byte| !passes(*byte)).unwrap_or(bytes.len());
    &bytes[length..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn is_as_lenient_as_browsers_are() {
        for (content, target) in [
            ("5; url=/x", Some("/x")),
            ("0;URL='a b'c", Some("a b")),
            ("0;url=\"x", Some("x")),
            (" 1.5 , Url = x ", Some("x ")),
            (".;x", Some("x")),
            ("0 x", Some("x")),
            ("0 'x' y", Some("x")),
            ("0;url", Some("url")),
            ("0;url:x", Some("url:x")),
            ("0;unit", Some("unit")),
            ("0;u'x'", Some("u'x'")),
            ("3\n;\nurl\n=\nx", Some("x")),
            ("0;;url=x", Some(";url=x")),
            ("5", None),
            ("5;", None),
            ("5; url=", None),
            ("5; url=''", None),
            ("5x;url=x", None),
            ("url=x", None),
            ("-1;url=x", None),
            ("", None),
        ] {
            assert_eq!(refresh_target(content.as_bytes()), target.map(str::as_bytes), "{content}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(content in prop::collection::vec(prop::sample::select(b"5. ;,url='\"x\n\xff".to_vec()), 0..20)) {
            refresh_target(&content);
        }
    }
}
