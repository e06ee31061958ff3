//! Names of files by URLs.
//!
//! Invariants: a name follows from the URL alone. Two URLs with one name have names of their own, whatever the case; a name has no part
//! that a file system takes for another folder, a device or nothing, and is at most [`LONGEST`] bytes long.

use percent_encoding::percent_decode_str;
use xxhash_rust::xxh3::xxh3_64;

use crate::url::WebUrl;

/// Bytes of a part of a name at most.
const LONGEST_PART: usize = 120;

/// Bytes of a name at most.
const LONGEST: usize = 700;

/// Names that are no file on some systems, whatever follows after a dot.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The name of the file of a URL, with `/` between folders and this suffix.
pub(super) fn file_name(url: &WebUrl, suffix: &str, with_host: bool) -> String {
    let given = url.path_and_query();
    let (path, query) = given.split_once('?').map_or((given, None), |(path, query)| (path, Some(query)));
    let mut parts: Vec<&str> = path.split('/').skip(1).collect();
    let last = parts.pop().unwrap_or_default();
    let mut is_altered = query.is_some();
    let mut name = String::new();
    if with_host {
        name.push_str(&part(&format!("{}+{}", url.host(), url.port()), &mut is_altered));
        name.push('/');
    }
    for folder in parts {
        name.push_str(&part(folder, &mut is_altered));
        // A folder is never called as a file is.
        name.push_str(if name.ends_with(suffix) { "_/" } else { "/" });
    }
    // What is called index is not the page of its folder.
    is_altered |= last.eq_ignore_ascii_case("index");
    let last = [".html", ".htm", ".xhtml"].into_iter().find_map(|end| last.strip_suffix(end)).unwrap_or(last);
    let end = if last.is_empty() { "index".to_owned() } else { part(last, &mut is_altered) };
    name.push_str(&end);
    if name.len() > LONGEST {
        name.truncate((0..=LONGEST).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0));
        is_altered = true;
    }
    if is_altered { with_hash(&name, url, suffix) } else { name + suffix }
}

/// The same for a URL whose name another one has.
pub(super) fn with_hash(stem: &str, url: &WebUrl, suffix: &str) -> String {
    let hash = xxh3_64(url.as_str().as_bytes());
    format!("{}-{:08x}{suffix}", stem.trim_end_matches('/'), hash >> 32)
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
    *is_altered |= name != decoded;
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
        file_name(&WebUrl::parse(url).unwrap(), ".md", false)
    }

    #[test]
    fn plain_paths_keep_their_names() {
        let cases = [
            ("http://h/", "index.md"),
            ("http://h/a", "a.md"),
            ("http://h/a.html", "a.md"),
            ("http://h/a/b/", "a/b/index.md"),
            ("http://h/a/index.html", "a/index.md"),
            ("http://h/v1.2/x.y", "v1.2/x.y.md"),
            ("http://h/%C3%A9t%C3%A9", "\u{e9}t\u{e9}.md"),
        ];
        for (url, expected) in cases {
            assert_eq!(name(url), expected, "{url}");
        }
        assert_eq!(file_name(&WebUrl::parse("http://h:81/a").unwrap(), ".md", true).split('/').count(), 2);
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
    }
}
