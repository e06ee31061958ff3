//! What a page asks of robots: `<meta name=robots>` and the `X-Robots-Tag` header.
//!
//! There is no standard; this follows what Google documents for both, and takes white space for a comma, as pages do.

use std::ops::BitOrAssign;

/// The name under which a meta tag may address this crawler alone.
const OWN_NAME: &[u8] = b"webloom";

/// The directives that are obeyed. `none` sets both.
///
/// ```
/// use webloom::internals::extract::robots_header;
/// let robots = robots_header(["unavailable_after: Wed, 03 Dec 2025 13:09:53 GMT, nofollow"].into_iter(), "webloom");
/// assert!(robots.nofollow && !robots.noindex);
/// assert!(!robots_header(["otherbot: none"].into_iter(), "webloom").nofollow);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MetaRobots {
    /// The links of this page are not to be followed.
    pub nofollow: bool,
    /// The page is not to be shown in a search; it is crawled all the same.
    pub noindex: bool,
}

impl MetaRobots {
    /// What a meta tag with this `name` and `content` asks for.
    pub(super) fn of_meta(name: &[u8], content: &[u8]) -> Self {
        let name = name.trim_ascii();
        let ours = name.eq_ignore_ascii_case(b"robots") || name.eq_ignore_ascii_case(OWN_NAME);
        if ours { Self::of_list(&String::from_utf8_lossy(content)) } else { Self::default() }
    }

    fn of_list(list: &str) -> Self {
        let mut all = Self::default();
        list.split(|c: char| c.is_ascii_whitespace() || matches!(c, ',' | ';'))
            .for_each(|one| all |= Self::of_word(one));
        all
    }

    fn of_word(word: &str) -> Self {
        let is = |name| word.eq_ignore_ascii_case(name);
        Self { nofollow: is("nofollow") || is("none"), noindex: is("noindex") || is("none") }
    }
}

impl MetaRobots {
    /// Both, as in the database and in output; `None` if nothing is asked for.
    pub fn as_str(self) -> Option<&'static str> {
        match (self.noindex, self.nofollow) {
            (true, true) => Some("noindex,nofollow"),
            (true, false) => Some("noindex"),
            (false, true) => Some("nofollow"),
            (false, false) => None,
        }
    }

    /// Reads [`MetaRobots::as_str`].
    pub fn from_word(word: &str) -> Self {
        Self::of_list(word)
    }
}

impl BitOrAssign for MetaRobots {
    fn bitor_assign(&mut self, other: Self) {
        self.nofollow |= other.nofollow;
        self.noindex |= other.noindex;
    }
}

/// What the values of all `X-Robots-Tag` headers of a response ask of the robot called `agent` (a product token, in any
/// case).
///
/// A name before a directive (`otherbot: noindex, nofollow`) limits it and what follows it in the same value to that
/// robot; `*` and `robots` mean all. Directives with values of their own, dates among them, are passed over.
pub fn robots_header<'a>(values: impl Iterator<Item = &'a str>, agent: &str) -> MetaRobots {
    let mut all = MetaRobots::default();
    values.for_each(|value| all |= one_header(value, agent));
    all
}

fn one_header(value: &str, agent: &str) -> MetaRobots {
    let mut all = MetaRobots::default();
    let mut for_us = true;
    for piece in value.split(',').map(str::trim) {
        let directive = match piece.split_once(':').map(|(name, rest)| (name.trim(), rest)) {
            Some((name, rest)) if is_robot_name(name) => {
                for_us = [agent, "*", "robots"].iter().any(|ours| name.eq_ignore_ascii_case(ours));
                rest
            }
            Some(_) => continue,
            None => piece,
        };
        if for_us {
            all |= MetaRobots::of_list(directive);
        }
    }
    all
}

/// Whether the text before a colon is a robot's name: not a directive with a value, nor the middle of a date.
fn is_robot_name(name: &str) -> bool {
    const WITH_VALUE: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.*/".contains(&byte))
        && !WITH_VALUE.iter().any(|directive| name.eq_ignore_ascii_case(directive))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOFOLLOW: MetaRobots = MetaRobots { nofollow: true, noindex: false };
    const NOINDEX: MetaRobots = MetaRobots { nofollow: false, noindex: true };
    const BOTH: MetaRobots = MetaRobots { nofollow: true, noindex: true };
    const NEITHER: MetaRobots = MetaRobots { nofollow: false, noindex: false };

    fn header(values: &[&str]) -> MetaRobots {
        robots_header(values.iter().copied(), "WebLoom")
    }

    #[test]
    fn meta_lists_are_read_in_any_case_and_spacing() {
        for (content, expected) in [
            ("NoFollow", NOFOLLOW),
            ("index, nofollow", NOFOLLOW),
            ("noindex nofollow", BOTH),
            ("none", BOTH),
            ("noindex;follow", NOINDEX),
            ("all", NEITHER),
            ("nofollower, max-snippet:-1", NEITHER),
            ("", NEITHER),
        ] {
            assert_eq!(MetaRobots::of_meta(b"ROBOTS", content.as_bytes()), expected, "{content}");
        }
    }

    #[test]
    fn a_meta_tag_for_another_robot_is_not_ours() {
        assert_eq!(MetaRobots::of_meta(b"googlebot", b"none"), NEITHER);
        assert_eq!(MetaRobots::of_meta(b" Webloom ", b"none"), BOTH);
        assert_eq!(MetaRobots::of_meta(b"description", b"none"), NEITHER);
    }

    #[test]
    fn headers_add_up() {
        assert_eq!(header(&[]), NEITHER);
        assert_eq!(header(&["noindex", "nofollow"]), BOTH);
        assert_eq!(header(&["NOINDEX, nofollow"]), BOTH);
    }

    #[test]
    fn a_named_robot_takes_the_rest_of_its_value() {
        assert_eq!(header(&["otherbot: noindex, nofollow"]), NEITHER);
        assert_eq!(header(&["webloom: nofollow"]), NOFOLLOW);
        assert_eq!(header(&["noindex, otherbot: nofollow"]), NOINDEX);
        assert_eq!(header(&["otherbot: nofollow, webloom: noindex"]), NOINDEX);
        assert_eq!(header(&["otherbot: none", "nofollow"]), NOFOLLOW);
        assert_eq!(header(&["*: none"]), BOTH);
    }

    #[test]
    fn values_and_dates_are_passed_over() {
        assert_eq!(header(&["unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow"]), NOFOLLOW);
        assert_eq!(header(&["unavailable_after: Wednesday, 03-Dec-25 13:09:53 GMT, noindex"]), NOINDEX);
        assert_eq!(header(&["otherbot: unavailable_after: Wed, 03 Dec 2025 13:09:53 GMT, nofollow"]), NEITHER);
        assert_eq!(header(&["max-snippet: 20, nofollow"]), NOFOLLOW);
        assert_eq!(header(&[":::,,:nofollow,"]), NEITHER);
    }
}
