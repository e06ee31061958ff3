//! The host and the section of a page.

use xxhash_rust::xxh3::xxh3_64;

/// The hashes of the host of a page and of its section, which is the first folder of its path: both are one where it lies in none. A path
/// that ends with its first folder is a page beside others, as `/about/` is.
pub(super) fn places(url: &str) -> [i64; 2] {
    let host = url.find("://").map_or(0, |at| at + 3);
    let path = url.find(['?', '#']).unwrap_or(url.len());
    let mut ends = url[..path].match_indices('/').map(|(at, _)| at).filter(|at| *at >= host);
    let host = ends.next().unwrap_or(path);
    let section = ends.next().filter(|end| end + 1 < path).unwrap_or(host);
    [host, section].map(|end| xxh3_64(&url.as_bytes()[..end]).cast_signed())
}

/// What the masks of a whole host have in the place of a section: a page in no folder is in the section of its host.
pub(super) fn all_sections(host: i64) -> i64 {
    !host
}

/// The address of all sections of the host of a page, for people.
pub(super) fn host_address(url: &str) -> String {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |at| host + at);
    url[..end].to_owned() + "/*"
}

/// The address of the section of a page: up to the first folder of its path.
pub(super) fn section_address(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let path = url.find(['?', '#']).unwrap_or(url.len());
    let mut ends = url[..path].match_indices('/').map(|(at, _)| at + 1).filter(|at| *at > host);
    let host = ends.next().unwrap_or(path);
    &url[..ends.next().filter(|end| *end < path).unwrap_or(host)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_the_first_folder_of_a_host() {
        let host = |url: &str| places(url)[0];
        let section = |url: &str| places(url)[1];
        let page = "https://h.org:8080/docs/a/b.html";
        assert!(host(page) == host("https://h.org:8080/x/y") && host(page) == host("https://h.org:8080"));
        assert!(host(page) != host("http://h.org:8080/docs/a") && host(page) != section(page));
        assert!(
            section(page) == section("https://h.org:8080/docs/c?q=/x")
                && section(page) != section("https://h.org:8080/x/d")
        );
        for alone in [
            "https://h.org/",
            "https://h.org/page",
            "https://h.org/?q=/a/b",
            "https://h.org",
            "https://h.org/docs/",
            "https://h.org/docs/?q=/x",
        ] {
            assert_eq!(section(alone), host("https://h.org/docs/a"), "{alone}");
        }
    }
}
