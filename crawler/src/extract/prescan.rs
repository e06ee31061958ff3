//! The encoding a page declares about itself, in its first bytes (HTML standard, 13.2.3.2, "prescan a byte stream to
//! determine its encoding").

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// How far the prescan looks.
const HEAD: usize = 1024;

/// The encoding declared by a meta tag, or else by an XML declaration, in the first 1024 bytes.
pub(super) fn prescan(body: &[u8]) -> Option<&'static Encoding> {
    let head = &body[..body.len().min(HEAD)];
    if head.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if head.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    Scan { head, at: 0 }.meta().or_else(|| xml_declaration(head))
}

/// An encoding found inside a page that was read as ASCII: it cannot be UTF-16.
fn declared(label: &[u8]) -> Option<&'static Encoding> {
    Encoding::for_label(label).map(|encoding| match encoding {
        utf_16 if utf_16 == UTF_16LE || utf_16 == UTF_16BE => UTF_8,
        user if user == X_USER_DEFINED => WINDOWS_1252,
        other => other,
    })
}

/// `<?xml … encoding="…"?>` ("get an XML encoding").
fn xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..declaration.iter().position(|byte| *byte == b'>')?];
    let at = find(declaration, b"encoding")? + b"encoding".len();
    let value = declaration[at..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    declared(&value[..value.iter().position(|byte| byte == quote)?])
}

/// The charset in a `content` like `text/html; charset=x` ("extracting a character encoding from a meta element").
fn in_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        rest = &rest[find(rest, b"charset")? + b"charset".len()..];
        let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") else { continue };
        return declared(unquoted(value.trim_ascii_start())?);
    }
}

fn unquoted(value: &[u8]) -> Option<&[u8]> {
    match value.split_first()? {
        (quote @ (b'"' | b'\''), rest) => rest.iter().position(|byte| byte == quote).map(|end| &rest[..end]),
        _ => value.split(|byte| byte.is_ascii_whitespace() || *byte == b';').next(),
    }
}

/// Where `lower` first occurs in `text`, in any case.
fn find(text: &[u8], lower: &[u8]) -> Option<usize> {
    text.windows(lower.len()).position(|window| window.eq_ignore_ascii_case(lower))
}

/// What a meta tag says. Of duplicate attributes the first counts.
#[derive(Debug, Default)]
struct Meta {
    http_equiv: Option<bool>,
    /// In `content`: counts only with the right `http-equiv`.
    content: Option<Declared>,
    /// In `charset`: counts by itself, and hides the other even if nobody knows its label.
    charset: Option<Declared>,
}

/// The encoding that a label names, if anybody knows the label.
type Declared = Result<&'static Encoding, ()>;

impl Meta {
    fn attribute(&mut self, name: &[u8], value: &[u8]) {
        let known = |encoding: Option<&'static Encoding>| encoding.ok_or(());
        match name {
            b"http-equiv" => drop(self.http_equiv.get_or_insert(value.eq_ignore_ascii_case(b"content-type"))),
            b"content" => drop(self.content.get_or_insert_with(|| known(in_content(value)))),
            b"charset" => drop(self.charset.get_or_insert_with(|| known(declared(value)))),
            _ => {}
        }
    }

    fn encoding(&self) -> Option<&'static Encoding> {
        let pragma = self.content.filter(|_| self.http_equiv == Some(true));
        self.charset.or(pragma)?.ok()
    }
}

struct Scan<'a> {
    head: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    /// The encoding the first meta tag with a known one names.
    fn meta(&mut self) -> Option<&'static Encoding> {
        loop {
            self.at += self.rest().iter().position(|byte| *byte == b'<')?;
            if self.rest().starts_with(b"<!--") {
                // The two dashes of the start may be those of the end.
                self.at += 2;
                self.at += find(self.rest(), b"-->")? + 3;
            } else if self.starts_tag(b"<meta") {
                self.at += 5;
                if let Some(encoding) = self.meta_tag() {
                    return Some(encoding);
                }
            } else {
                self.pass_tag()?;
            }
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.head.get(self.at..).unwrap_or_default()
    }

    fn starts_tag(&self, lower: &[u8]) -> bool {
        let (start, after) = self.rest().split_at_checked(lower.len()).unwrap_or_default();
        start.eq_ignore_ascii_case(lower)
            && after.first().is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/')
    }

    fn meta_tag(&mut self) -> Option<&'static Encoding> {
        let mut meta = Meta::default();
        while let Some((name, value)) = self.attribute() {
            meta.attribute(&name, value);
        }
        meta.encoding()
    }

    /// Passes over any other `<…`.
    fn pass_tag(&mut self) -> Option<()> {
        let letter = 1 + usize::from(self.rest().get(1) == Some(&b'/'));
        if self.rest().get(letter).is_some_and(u8::is_ascii_alphabetic) {
            self.at += self.rest().iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>')?;
            while self.attribute().is_some() {}
        } else if matches!(self.rest().get(1), Some(b'!' | b'/' | b'?')) {
            self.at += self.rest().iter().position(|byte| *byte == b'>')?;
        } else {
            self.at += 1;
        }
        Some(())
    }

    /// The next attribute of a tag, its name in lower case ("get an attribute"); `None` at the tag's end, or the
    /// head's.
    fn attribute(&mut self) -> Option<(Vec<u8>, &'a [u8])> {
        self.pass(|byte| byte.is_ascii_whitespace() || byte == b'/');
        if self.rest().first().is_none_or(|byte| *byte == b'>') {
            return None;
        }
        let start = self.at;
        // The first byte may be an equals sign: it belongs to the name.
        self.at += 1;
        self.pass(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'>' | b'='));
        let name = self.head[start..self.at].to_ascii_lowercase();
        self.pass(|byte| byte.is_ascii_whitespace());
        let value = if self.rest().first() == Some(&b'=') { self.value()? } else { &[] };
        Some((name, value))
    }

    fn value(&mut self) -> Option<&'a [u8]> {
        self.at += 1;
        self.pass(|byte| byte.is_ascii_whitespace());
        let rest = self.rest();
        if let quote @ (b'"' | b'\'') = rest.first()? {
            let length = rest[1..].iter().position(|byte| byte == quote)?;
            self.at += length + 2;
            return Some(&rest[1..=length]);
        }
        self.pass(|byte| !byte.is_ascii_whitespace() && byte != b'>');
        Some(&rest[..rest.len() - self.rest().len()])
    }

    fn pass(&mut self, passes: impl Fn(u8) -> bool) {
        self.at += self.rest().iter().take_while(|byte| passes(**byte)).count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(head: &str) -> Option<&'static str> {
        prescan(head.as_bytes()).map(Encoding::name)
    }

    #[test]
    fn meta_charset_and_pragma() {
        for head in [
            "<meta charset=koi8-r>",
            "<META/CHARSET = 'KOI8-R'/>",
            "<p a='<meta charset=gbk>'><meta charset=koi8-r>",
            "<!-- <meta charset=gbk> --><meta charset=koi8-r>",
            "<!--><meta charset=koi8-r>",
            "<!doctype html><?x ?></x a=b></1><meta name=x><meta charset=koi8-r>",
            "<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>",
            "<meta content='charset; charset = \"koi8-r\"' http-equiv=content-type>",
            "<meta charset=koi8-r charset=gbk>",
            "<meta charset=nonsense><meta charset=koi8-r>",
        ] {
            assert_eq!(name(head), Some("KOI8-R"), "{head}");
        }
    }

    #[test]
    fn what_declares_nothing() {
        for head in [
            "",
            "<meta",
            "<metas charset=koi8-r>",
            "<meta charset='koi8-r>",
            "<meta content='text/html; charset=koi8-r'>",
            "<meta http-equiv=refresh content='charset=koi8-r'>",
            "<!-- <meta charset=koi8-r>",
            "< meta charset=koi8-r>",
        ] {
            assert_eq!(name(head), None, "{head}");
        }
    }

    #[test]
    fn only_the_head_counts() {
        let padding = " ".repeat(HEAD);
        assert_eq!(name(&format!("{padding}<meta charset=koi8-r>")), None);
    }

    #[test]
    fn utf_16_and_user_defined_mean_something_else_in_ascii() {
        assert_eq!(name("<meta charset=utf-16le>"), Some("UTF-8"));
        assert_eq!(name("<meta charset=x-user-defined>"), Some("windows-1252"));
        assert_eq!(prescan(b"<\0?\0x\0m\0"), Some(UTF_16LE));
        assert_eq!(prescan(b"\0<\0?\0x\0m"), Some(UTF_16BE));
    }

    #[test]
    fn an_xml_declaration_counts_after_meta_tags() {
        assert_eq!(name("<?xml version='1.0' encoding='koi8-r'?><html>"), Some("KOI8-R"));
        assert_eq!(name("<?xml encoding = \"koi8-r\"?><meta charset=gbk>"), Some("GBK"));
        assert_eq!(name("<?xml version='1.0'?>encoding='koi8-r'>"), None);
    }
}
