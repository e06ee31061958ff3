//! Names of files by URLs.
//!
//! Invariants: a name follows from the URL and the host of the crawl alone. Two URLs have two names, but for those that differ in case: these
//! have names of their own by [`with_hash`]. A name has no part that a file system takes for another folder, a device or nothing, and is
//! at most [`LONGEST`] bytes long; none is that of a list of the export.

use data_encoding::HEXLOWER;
use percent_encoding::percent_decode_str;
use sha2::{Digest as _, Sha256};

use crate::url::WebUrl;

/// Bytes of a part of a name at most.
const LONGEST_PART: usize = 120;

/// Bytes of a name at most, without its hash.
const LONGEST: usize = 700;

/// Bytes of a hash in a name.
const HASH: usize = 8;

/// Names that are no file on some systems, whatever follows after a dot.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Ends of the names of files in an export: no folder has them.
const OF_FILES: [&str; 3] = [".md", ".txt", ".jsonl"];

/// How the name of a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suffix {
    /// So, whatever the URL is.
    Added(&'static str),
    /// So, as its URL does, or that is added.
    Own(&'static str),
}

impl Suffix {
    pub(super) fn text(self) -> &'static str {
        let (Self::Added(text) | Self::Own(text)) = self;
        text
    }
}

/// The name of the file of a URL, with `/` between folders and this suffix. Pages of this origin are in no folder of their own.
pub(super) fn file_name(url: &WebUrl, end: Suffix, own: &str) -> String {
    let suffix = end.text();
    let given = url.path_and_query();
    let (path, query) = given.split_once('?').map_or((given, None), |(path, query)| (path, Some(query)));
    let mut parts: Vec<&str> = path.split('/').skip(1).collect();
    let mut last = parts.pop().unwrap_or_default();
    if let Suffix::Own(suffix) = end
        && let Some(stem) = last.len().checked_sub(suffix.len()).filter(|at| *at > 0 && last.is_char_boundary(*at))
        && last[stem..].eq_ignore_ascii_case(suffix)
    {
        last = &last[..stem];
    }
    let mut is_altered = query.is_some();
    let mut name = String::new();
    let origin = url.origin().to_string();
    if origin == own {
        // That is how the folders of other hosts are called.
        is_altered |= parts.first().is_some_and(|first| first.contains('+') || first.contains("%2"));
    } else {
        name.push_str(&part(&format!("{}+{}", url.host(), url.port()), &mut false));
        name.push('/');
        is_altered |= origin.starts_with("http:") && url.port() == 443;
    }
    for folder in parts {
        let folder = part(folder, &mut is_altered);
        let is_of_file = OF_FILES.iter().any(|end| folder.to_ascii_lowercase().ends_with(end));
        is_altered |= is_of_file;
        name.push_str(&folder);
        name.push_str(if is_of_file { "_/" } else { "/" });
    }
    // What is called index is not the page of its folder, and what looks like a hash is not one.
    let is_called_index = last.eq_ignore_ascii_case("index") && matches!(end, Suffix::Added(_));
    is_altered |= is_called_index || ends_in_hash(last);
    name.push_str(&if last.is_empty() { "index".to_owned() } else { part(last, &mut is_altered) });
    is_altered |= name.len() > LONGEST;
    if is_altered { with_hash(&name, url, suffix) } else { name + suffix }
}

/// The same for a URL whose name another one has, or that is not the whole of it.
pub(super) fn with_hash(stem: &str, url: &WebUrl, suffix: &str) -> String {
    let end = (0..=stem.len().min(LONGEST)).rev().find(|at| stem.is_char_boundary(*at)).unwrap_or(0);
    let hash = HEXLOWER.encode(&Sha256::digest(url.as_str().as_bytes())[..HASH]);
    format!("{}-{hash}{suffix}", stem[..end].trim_end_matches('/'))
}

fn ends_in_hash(name: &str) -> bool {
    name.rsplit_once('-')
        .is_some_and(|(_, end)| end.len() == 2 * HASH && end.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A part of a path as a part of a name.
fn part(given: &str, is_altered: &mut bool) -> String {
    let decoded = percent_decode_str(given).decode_utf8_lossy();
    let mut name: String = decoded.chars().map(|letter| if is_harmless(letter) { letter } else { '_' }).collect();
    if name.starts_with('.') {
        name.replace_range(..1, "_");
    }
    if name.ends_with('.') {
        name.pop();
        name.push('_');
    }
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_device = RESERVED.contains(&stem.as_str())
        || stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt")).is_some_and(|rest| rest.len() == 1);
    if name.is_empty() || is_device {
        name.insert(0, '_');
    }
    if name.len() > LONGEST_PART {
        name.truncate((0..=LONGEST_PART).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0));
    }
    *is_altered |= name != decoded || given.contains("%2F") || given.contains("%2f");
    name
}

/// Whether it may be in a name everywhere.
fn is_harmless(letter: char) -> bool {
    letter.is_alphanumeric() || "-_.~+,=@".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(url: &str) -> String {
        file_name(&WebUrl::parse(url).unwrap(), Suffix::Added(".md"), "http://h")
    }

    #[test]
    fn a_file_may_end_as_its_url_does() {
        let name = |url: &str, suffix| file_name(&WebUrl::parse(url).unwrap(), Suffix::Own(suffix), "http://h");
        let cases = [
            ("http://h/", ".html", "index.html"),
            ("http://h/index.html", ".html", "index.html"),
            ("http://h/a.HTML", ".html", "a.html"),
            ("http://h/a.php", ".html", "a.php.html"),
            ("http://h/d/s.css", ".css", "d/s.css"),
            ("http://h/.css", ".css", "_css.css"),
        ];
        for (url, suffix, expected) in cases {
            let name = name(url, suffix);
            assert!(name == expected || name.contains("_css-"), "{url} {name}");
        }
        let query = name("http://h/s.css?v=1", ".css");
        assert_eq!((&query[..2], &query[query.len() - 4..]), ("s-", ".css"));
    }

    #[test]
    fn plain_paths_keep_their_names() {
        let cases = [
            ("http://h/", "index.md"),
            ("http://h/a", "a.md"),
            ("http://h/a.html", "a.html.md"),
            ("http://h/a/b/", "a/b/index.md"),
            ("http://h/a/index.html", "a/index.html.md"),
            ("http://h/v1.2/x.y", "v1.2/x.y.md"),
            ("http://h/%C3%A9t%C3%A9", "\u{e9}t\u{e9}.md"),
        ];
        for (url, expected) in cases {
            assert_eq!(name(url), expected, "{url}");
        }
        assert_eq!(name("http://h:81/a"), "h+81/a.md");
    }

    #[test]
    fn no_name_leaves_its_folder_or_is_a_device() {
        for url in [
            "http://h/..%2f..%2fetc%2fpasswd",
            "http://h/%2e%2e%2fx",
            "http://h/a%00b",
            "http://h/con",
            "http://h/COM1.html",
            "http://h/nul.txt/x",
            "http://h/.htaccess",
            "http://h/a./b",
            "http://h/a?b=../../c",
            "http://h/a.md/b",
            "http://h/index.jsonl/b",
            "http://h/LLMS.txt/b",
            "http://h/x+81/b",
            "http://h//a",
            "http://h/a%5cb",
            "http://h/a:b",
            "http://h/index",
            &format!("http://h/{}", "x".repeat(5000)),
            &format!("http://h/{}", "%e8%aa%9e".repeat(300)),
            &format!("http://h/{}", "y/".repeat(900)),
        ] {
            let name = name(url);
            assert!(
                name.rsplit_once('.').is_some_and(|(_, end)| end == "md") && name.len() < LONGEST + 20,
                "{url} {name}"
            );
            for part in name.split('/') {
                let stem = part.split('.').next().unwrap();
                assert!(!part.is_empty() && !part.starts_with('.') && part.len() < 150, "{url} {name}");
                assert!(!["con", "nul", "com1"].contains(&stem.to_lowercase().as_str()), "{url} {name}");
                assert!(!part.contains(['\\', '\0', ':', '?']), "{url} {name}");
            }
        }
    }

    #[test]
    fn what_was_altered_is_with_hash() {
        assert_ne!(name("http://h/a?b=1"), name("http://h/a?b=2"));
        assert_ne!(name("http://h/a%3Ab"), name("http://h/a_b"));
        assert_ne!(name("http://h/a/index"), name("http://h/a/"));
        assert_ne!(name("http://h/h+81/a"), name("http://h:81/a"));
        assert_ne!(name("http://h/a.html"), name("http://h/a"));
        let hashed = with_hash("A", &WebUrl::parse("http://h/A").unwrap(), "");
        assert_ne!(name(&format!("http://h/{hashed}")), hashed + ".md");
        let folders = [name("http://h/index.jsonl/b"), name("http://h/LLMS.txt/b")];
        assert!(
            folders.iter().all(|name| name.split_once('/').is_some_and(|(folder, _)| folder.ends_with('_'))),
            "{folders:?}"
        );
    }
}
