//! [`Collected`]: what was found on a page.

use super::{directives::MetaRobots, references::References, word_count::WordCounter};

/// What was found on a page, as written there.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// `href` of `a` and `area`.
    pub(super) links: References,
    /// What the page loads: images, scripts, styles, media.
    pub(super) requisites: References,
    /// `src` of frames.
    pub(super) frames: References,
    /// `link rel=alternate`.
    pub(super) alternates: References,
    /// `href` of the first `base` that has one.
    pub(super) base: Option<Vec<u8>>,
    /// Text of the first `title`.
    pub(super) title: Option<Vec<u8>>,
    /// `content` of the first `meta` with the name `description` that has any.
    pub(super) description: Option<Vec<u8>>,
    /// `href` of the first `link` with `rel=canonical` that has one.
    pub(super) canonical: Option<Vec<u8>>,
    /// `lang` of the first `html` that has one.
    pub(super) language: Option<Vec<u8>>,
    /// Text of the first `h1` that has one.
    pub(super) heading: Option<String>,
    /// Its words, where the reader passes over them.
    pub(super) words: WordCounter,
    /// Whether it has a `script`.
    pub(super) has_scripts: bool,
    /// From the meta tags.
    pub(super) robots: MetaRobots,
}
