//! [`ClassWords`]: the words in the class or the id of an element, and what they say about it.

use std::{collections::HashSet, sync::LazyLock};

/// Words, and pairs of words, of parts that are no content.
static CHROME: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    set("ad addtoany ads advert advertisement advertising backlinks banner breadcrumb breadcrumbs byline carbonads \
    catlinks colophon comments consent cookie cookies copyright crosssell crumb crumbs cta disqus donate \
    dropdown editsection feedback flyout footer gdpr gutter hamburger headerlink lineno linenodiv linenos \
    livechat login masthead megamenu menu menus minicart modal nav navbar navbars navfooter navheader navigation \
    newsletter offcanvas onetrust outbrain overlay pager pagination paginator paywall permalink popover popup \
    prevnext printfooter promo promos rating ratings recommendations recommended related relbar searchbox \
    searchform share sharebar sharing sidebar sidebars sidenav signin signup sitemap skiplink skipnav social \
    socials sphinxsidebar sponsor sponsored sponsors subnav subscribe subscription tableofcontents taboola toast \
    toc toolbar tooltip topbar topnav upsell widget widgets about-author also-like author-bio author-box \
    back-top call-action copy-button edit-link edit-page entry-meta follow-us global-header jump-link \
    last-updated load-more log-in more-posts more-stories next-prev of-contents on-page on-this page-actions \
    page-footer page-nav page-toc post-meta post-nav post-tags prev-next read-more read-next scroll-top see-also \
    side-bar side-nav sign-up site-header skip-link skip-nav skip-to spirit-nav tag-list up-next you-may")
});

/// Those of what browsers do not show, but read aloud.
static UNSEEN: LazyLock<HashSet<&str>> =
    LazyLock::new(|| set("sr-only visually-hidden screen-reader visuallyhidden a11y-hidden usa-sr"));

/// Those of the parts that hold the content of a page.
static CONTENT: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    set("article-body article-content article-text post-content post-body entry-content main-content page-content \
    body-content story-body blog-content markdown-body rst-content mw-parser doc-content docs-content \
    content-body theme-doc blog-post content-main rich-text document-body")
});

/// Those of a list of what a document has.
static CONTENTS: LazyLock<HashSet<&str>> = LazyLock::new(|| set("toc tableofcontents of-contents"));

/// Those of a sign beside a heading, which leads to it or lets it be changed.
static SIGN: LazyLock<HashSet<&str>> = LazyLock::new(|| set("headerlink permalink editsection tooltip edit-link"));

/// Those of the numbers of lines of code.
static GUTTER: LazyLock<HashSet<&str>> = LazyLock::new(|| set("linenos linenodiv gutter lineno"));

/// Words after which a word says what the page has around an element, not what the element is.
const ABOUT: &str = " has with no without not is after before hide show under above below col main ";

/// The longest names that are looked at, in bytes.
const LONGEST: usize = 400;

fn set(words: &'static str) -> HashSet<&'static str> {
    words.split(' ').collect()
}

/// The words of a class or an id, in lower case: `mainNav post-toc` has four.
#[derive(Debug)]
pub(super) struct ClassWords {
    /// All, with a sign between any two.
    joined: String,
    /// Where each begins, and one would after the last.
    starts: Vec<usize>,
}

impl ClassWords {
    /// Those of a class or an id.
    pub(super) fn of(names: &str) -> Self {
        let mut words = Self { joined: String::with_capacity(names.len().min(LONGEST)), starts: Vec::new() };
        let mut before = b' ';
        for byte in names.bytes().take(LONGEST) {
            if byte.is_ascii_alphanumeric() {
                if !before.is_ascii_alphanumeric() || (before.is_ascii_lowercase() && byte.is_ascii_uppercase()) {
                    words.start();
                }
                words.joined.push(char::from(byte.to_ascii_lowercase()));
            }
            before = byte;
        }
        words.start();
        words
    }

    fn start(&mut self) {
        if !self.joined.is_empty() {
            self.joined.push('-');
        }
        self.starts.push(self.joined.len());
    }

    /// So many words from one on, if there are.
    fn run(&self, at: usize, count: usize) -> Option<&str> {
        let end = *self.starts.get(at + count)?;
        Some(&self.joined[self.starts[at]..end - 1])
    }

    /// Whether one of them, or two in a row, are in a set.
    fn are_in(&self, set: &HashSet<&str>) -> bool {
        let is_in = |at, count| self.run(at, count).is_some_and(|word| set.contains(word));
        (0..self.starts.len() - 1).any(|at| (is_in(at, 1) && !self.is_about(at)) || is_in(at, 2))
    }

    /// Whether a word is about what is around the element.
    fn is_about(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.run(before, 1));
        before.is_some_and(|word| ABOUT.contains(&format!(" {word} ")))
    }

    /// Whether they are those of a part that is no content.
    pub(super) fn say_chrome(&self) -> bool {
        self.are_in(&CHROME)
    }

    /// Whether they are those of a list of what a document has.
    pub(super) fn say_contents(&self) -> bool {
        self.are_in(&CONTENTS)
    }

    /// Whether they are those of a sign beside a heading.
    pub(super) fn say_sign(&self) -> bool {
        self.are_in(&SIGN)
    }

    /// Whether they are those of the numbers of lines of code.
    pub(super) fn say_gutter(&self) -> bool {
        self.are_in(&GUTTER)
    }

    /// Whether they are those of a part that is not seen.
    pub(super) fn say_unseen(&self) -> bool {
        self.are_in(&UNSEEN)
    }

    /// Whether they are those of a part that holds the content.
    pub(super) fn say_content(&self) -> bool {
        self.are_in(&CONTENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_divided_into_words() {
        assert_eq!(ClassWords::of("mainNav post-toc__item H2").joined, "main-nav-post-toc-item-h2-");
        assert_eq!(ClassWords::of("").run(0, 1), None);
    }

    #[test]
    fn words_tell_chrome_from_content() {
        for chrome in ["sidebar", "page-toc", "siteNav navigation", "skip-link", "cookie-banner", "siteHeader"] {
            assert!(ClassWords::of(chrome).say_chrome(), "{chrome}");
        }
        for content in ["has-sidebar", "content", "article", "shared", "no-nav"] {
            assert!(!ClassWords::of(content).say_chrome(), "{content}");
        }
        assert!(ClassWords::of("post__entry-content").say_content());
        assert!(ClassWords::of("sr-only").say_unseen());
        assert!(
            ClassWords::of("toc-backref").say_contents()
                && ClassWords::of("linenos").say_gutter()
                && ClassWords::of("headerlink").say_sign()
        );
    }
}
