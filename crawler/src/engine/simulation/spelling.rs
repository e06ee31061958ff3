//! [`spelled`]: links in several spellings of one key.
//!
//! Invariant: the key of each is the URL that the web has.

use crate::url::{Canonicalizer, WebUrl};

/// A link in one of its spellings, by chance. What settings leave out by the last number of a URL is written as it is.
pub(super) fn spelled(link: &str, chance: u64) -> String {
    let number = link.rsplit('/').next().filter(|number| !number.is_empty() && !number.starts_with('3'));
    let Some((last, before)) = number.and_then(|_| link.as_bytes().split_last()) else { return link.to_owned() };
    match chance % 6 {
        0 => format!("{link}?"),
        1 => format!("{}%{last:02X}", &link[..before.len()]),
        2 => link.replacen("/private", "/privat%65", 1),
        3 => link.replacen("/endless", "/e%6edless", 1) + "?",
        _ => link.to_owned(),
    }
}

/// The URL that the web has for one of its spellings.
pub(super) fn of_web(url: &WebUrl) -> String {
    Canonicalizer::default().key(url).as_str().to_owned()
}

#[test]
fn each_spelling_is_of_its_url() {
    for link in ["http://h/private/18", "http://h/endless/4", "http://h/0", "http://h/"] {
        let spellings: Vec<_> = (0..6).map(|chance| spelled(link, chance)).collect();
        assert!(spellings.iter().all(|url| of_web(&WebUrl::parse(url).unwrap()) == link), "{spellings:?}");
    }
    assert_eq!(spelled("http://h/1", 1), "http://h/%31");
}
