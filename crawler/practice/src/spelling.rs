//! Links: where each one leads, and the many ways to write it.

use std::hash::Hasher;

use xxhash_rust::xxh3::Xxh3;

use super::PracticeSite;

/// A link as a page has it (before HTML escaping), and what it names on this site; `None` leads elsewhere.
#[derive(Debug, Clone)]
pub(super) struct Anchor {
    pub(super) href: String,
    pub(super) target: Option<String>,
}

impl Anchor {
    /// The root-relative form.
    pub(super) fn plain(path: &str) -> Self {
        Self { href: path.to_owned(), target: Some(path.to_owned()) }
    }
}

/// A link to follow: where to, and whether it carries `rel=nofollow`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lead {
    pub(super) target: String,
    pub(super) rel_nofollow: bool,
}

/// Writes the links of one page, each in a form of its own.
#[derive(Debug)]
pub(super) struct Speller<'a> {
    site: &'a PracticeSite,
    page: u32,
    folder: String,
    written: u32,
}

impl<'a> Speller<'a> {
    /// For page number `page`, whose relative links start from `folder` (with both slashes).
    pub(super) fn new(site: &'a PracticeSite, page: u32, folder: String) -> Self {
        Self { site, page, folder, written: 0 }
    }

    /// The next link, to the path and query `target`.
    pub(super) fn anchor(&mut self, target: String) -> Anchor {
        self.written += 1;
        let form = mix(self.site.shape.seed, self.page, 1000 + self.written) % 12;
        Anchor { href: self.written_as(form, &target), target: Some(target) }
    }

    fn written_as(&self, form: u32, target: &str) -> String {
        let origin = &self.site.origin;
        match form {
            0 | 1 => target.to_owned(),
            2..=4 => relative(&self.folder, target),
            5 => format!("{origin}{target}"),
            6 => format!("{}{target}", origin.trim_start_matches("http:")),
            7 => format!("{}{target}", origin.replacen("http:", "HTTP:", 1)),
            8 => format!("{target}#part-{}", self.written),
            9 => format!("../../../../../..{target}"),
            10 => format!("/./up/..{target}"),
            _ => unescaped(target),
        }
    }
}

/// Thirty-two bits that depend on all three and on nothing else: the site's only source of chance.
pub(super) fn mix(seed: u64, number: u32, use_for: u32) -> u32 {
    let mut hash = Xxh3::with_seed(seed);
    hash.write(&number.to_le_bytes());
    hash.write(&use_for.to_le_bytes());
    (hash.finish() >> 32) as u32
}

/// A number as the site writes it: no sign, no leading zero.
pub(super) fn plain_number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| number.to_string() == text)
}

/// `target` as seen from `folder`.
fn relative(folder: &str, target: &str) -> String {
    match target.strip_prefix(folder) {
        Some("") => "./".to_owned(),
        Some(rest) => rest.to_owned(),
        None => format!("{}{}", "../".repeat(folder.matches('/').count() - 1), &target[1..]),
    }
}

/// With the letters themselves where the canonical form has percent signs.
fn unescaped(target: &str) -> String {
    target.replace("%C3%9F", "\u{df}").replace("%20", " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_forms() {
        assert_eq!(relative("/a/", "/a/b"), "b");
        assert_eq!(relative("/a/", "/a/"), "./");
        assert_eq!(relative("/a/b/", "/c/d?e"), "../../c/d?e");
        assert_eq!(relative("/", "/view?id=1"), "view?id=1");
    }
}
