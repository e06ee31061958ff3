//! Names, attributes and references of XML, as sloppy documents write them.

use std::borrow::Cow;

use quick_xml::{escape, events::BytesStart};

/// A name as it is written: `image:loc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct XmlName<'a> {
    pub(super) prefix: &'a str,
    local: &'a str,
}

impl<'a> XmlName<'a> {
    pub(super) fn of(name: &'a str) -> Self {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        Self { prefix, local }
    }

    /// Whether this is the name after the prefix, in upper or lower case.
    pub(super) fn is(self, local: &str) -> bool {
        self.local.eq_ignore_ascii_case(local)
    }

    /// The first of these that it is.
    pub(super) fn among<T: Copy>(self, names: &[(&str, T)]) -> Option<T> {
        names.iter().find(|(local, _)| self.is(local)).map(|(_, meant)| *meant)
    }
}

/// The value of an attribute, by its name with its prefix.
pub(super) fn attribute<'a>(tag: &'a BytesStart<'_>, name: &str) -> Option<Cow<'a, str>> {
    let mut attributes = tag.html_attributes();
    let found = attributes.with_checks(false).flatten().find(|one| one.key.as_ref().eq_ignore_ascii_case(name))?;
    Some(match found.value {
        Cow::Borrowed(raw) => unescaped(raw),
        Cow::Owned(raw) => Cow::Owned(unescaped(&raw).into_owned()),
    })
}

/// A value with its references resolved. A `&` that begins none, and a reference to what is not known, stay as they are.
fn unescaped(raw: &str) -> Cow<'_, str> {
    let mut parts = raw.split('&');
    let first = parts.next().unwrap_or_default();
    if first.len() == raw.len() {
        return Cow::Borrowed(raw);
    }
    let mut text = first.to_owned();
    for part in parts {
        match part.split_once(';').and_then(|(name, rest)| Some((resolved(name)?, rest))) {
            Some((known, rest)) => text.extend([&*known, rest]),
            None => text.extend(["&", part]),
        }
    }
    Cow::Owned(text)
}

/// What a reference means: one of the five that XML has, or a character by its number.
pub(super) fn resolved(name: &str) -> Option<Cow<'static, str>> {
    if let Some(known) = escape::resolve_xml_entity(name) {
        return Some(Cow::Borrowed(known));
    }
    let number = name.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
        None => number.parse(),
    };
    code.ok().and_then(char::from_u32).map(|letter| Cow::Owned(letter.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_five_names_and_numbers_alone() {
        assert_eq!(unescaped("a&amp;b&lt;&#x41;&#66;&apos;"), "a&b<AB'");
        assert_eq!(unescaped("?a=1&b=2&copy;&#xd800;&#;&"), "?a=1&b=2&copy;&#xd800;&#;&");
        assert!(matches!(unescaped("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn finds_attributes_of_sloppy_tags() {
        let tag = BytesStart::from_content("link rel=alternate HREF='/a?b&amp;c&d' href=x xml:base=\"/y\" flag", 4);
        assert_eq!(attribute(&tag, "href").as_deref(), Some("/a?b&c&d"));
        assert_eq!(attribute(&tag, "rel").as_deref(), Some("alternate"));
        assert_eq!(attribute(&tag, "xml:base").as_deref(), Some("/y"));
        assert_eq!(attribute(&tag, "type"), None);
    }

    #[test]
    fn a_name_has_a_prefix_or_none() {
        assert!(XmlName::of("image:LOC").is("loc") && XmlName::of("image:loc").prefix == "image");
        assert!(XmlName::of("loc").prefix.is_empty());
    }
}
