//! [`Omitted`]: the parts of pages that are left out of their texts, by CSS selector, and what images say in them.

use std::borrow::Cow;

use scraper::{Selector, selector::ToCss};

use super::{collector::text_of, lines::ImageText, tree};
use crate::text::{RuledText, Text, TextRule};

/// The version of what makes the text of a page. Whoever changes what comes out of the same page counts it up: texts of
/// different versions are not compared.
const VERSION: u32 = 1;

/// What makes a selector compare each element with all others: a page could be made that takes hours.
const COSTLY: [&str; 3] = [" ~ ", ":has(", ":nth-last-"];

/// Which parts of pages are no part of their texts. In a tree every element has an end: one that shows nothing and is
/// never closed hides all that follows it, as it does in browsers.
///
/// ```
/// use webloom::internals::extract::Omitted;
/// assert!(Omitted::parse(&["nav", ".ad > img, #clock"]).is_ok());
/// assert_eq!(
///     Omitted::parse(&["nav", "p["]).unwrap_err().to_string(),
///     "\"p[\" is not a CSS selector that Webloom understands"
/// );
/// ```
#[derive(Debug, Clone, Default)]
pub struct Omitted {
    sources: Vec<Box<str>>,
    selectors: Vec<Selector>,
    /// What images say.
    pub(super) images: ImageText,
}

/// A selector that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// It is none, or has parts that mean something in a browser only.
    #[error("{0:?} is not a CSS selector that Webloom understands")]
    Unknown(Box<str>),
    /// It takes more than linear time.
    #[error(
        "{0:?} would take too long on large pages: use no `~`, `:has()` or `:nth-last-…`, and `…-of-type` with the name of an element alone"
    )]
    Costly(Box<str>),
}

impl Omitted {
    /// What matches any of these selectors is left out, with all that is in it.
    ///
    /// # Errors
    /// The first that is no selector, or one that would take too long.
    pub fn parse(selectors: &[impl AsRef<str>]) -> Result<Self, SelectorError> {
        let sources = selectors.iter().map(|selector| selector.as_ref().trim().into()).collect::<Vec<Box<str>>>();
        let selectors = sources.iter().map(|source| selector(source)).collect::<Result<_, _>>()?;
        Ok(Self { sources, selectors, images: ImageText::Nothing })
    }

    /// The same with what images say.
    #[must_use]
    pub fn with_images(self, images: ImageText) -> Self {
        Self { images, ..self }
    }

    /// Whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.selectors.is_empty()
    }

    /// The rule of the texts that are made with it. (A text that could not be made with it names the rule that leaves
    /// nothing out.)
    pub fn rule(&self) -> TextRule {
        let images = match self.images {
            ImageText::Nothing => None,
            ImageText::Alt => Some("<img alt>"),
            ImageText::Source => Some("<img src>"),
        };
        TextRule::new(VERSION, self.sources.iter().map(|source| &**source).chain(images))
    }

    /// The text of a page, whose bytes are UTF-8 or nearly. Where its tree is [too large](tree::parse), nothing is left
    /// out, and the rule says so.
    pub(super) fn text(&self, html: &[u8]) -> RuledText {
        let html = String::from_utf8_lossy(html);
        let rest = self.without(&html);
        let rule = if rest.is_some() { self.rule() } else { Self::default().with_images(self.images).rule() };
        RuledText { text: text_of(rest.as_deref().unwrap_or(&html).as_bytes(), self.images), rule }
    }

    /// The page without what is left out; none if its tree is too large.
    fn without<'a>(&self, html: &'a str) -> Option<Cow<'a, str>> {
        if self.is_empty() {
            return Some(Cow::Borrowed(html));
        }
        let mut page = tree::parse(html)?;
        for selector in &self.selectors {
            let matching: Vec<_> = page.select(selector).map(|element| element.id()).collect();
            for id in matching {
                if let Some(mut node) = page.tree.get_mut(id) {
                    node.detach();
                }
            }
        }
        Some(Cow::Owned(tree::html(page)))
    }
}

/// A text of which nothing was left out.
pub(super) fn whole(text: Text) -> RuledText {
    RuledText { text, rule: Omitted::default().rule() }
}

/// A selector that takes linear time.
pub(super) fn selector(source: &str) -> Result<Selector, SelectorError> {
    let found = Selector::parse(source).map_err(|_| SelectorError::Unknown(source.into()))?;
    let css = found.to_css_string();
    if COSTLY.iter().any(|costly| css.contains(costly)) {
        return Err(SelectorError::Costly(source.into()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(selectors: &[&str], html: &str) -> String {
        Omitted::parse(selectors).unwrap().text(html.as_bytes()).text.into()
    }

    #[test]
    fn what_matches_is_left_out_with_all_that_is_in_it() {
        let html = "<title>t</title><nav>menu<p>more</nav><main><p class='ad x'>buy<p hidden>no<p>A &lt; b<pre>\n1\n2</pre>\
                    <div id=clock>12:<b>30</b></div>tail</main>";
        assert_eq!(text(&["nav", ".ad, #clock", "[hidden]"], html), "A < b\n1\n2\ntail");
        assert_eq!(text(&["main > p:nth-child(3)"], html), "menu\nmore\nbuy\nno\n1\n2\n12:30\ntail");
        assert_eq!(text(&["b + i"], "<b>1</b><i>2</i><i>3</i>"), "13");
        assert_eq!(text(&["html"], html), "");
    }

    #[test]
    fn where_nothing_matches_the_text_is_the_same() {
        for html in [
            "",
            "text <p>a<p>b<table><tr><td>1<td>2</table>c",
            "<script>if (a < b) {}</script><noscript>no</noscript><template><p>no</template>x<textarea>\n<b>\n</textarea>",
            "<svg><title>no</title><foreignObject>yes</foreignObject></svg><ul><li>1<li>2</ul>",
            "<!-- c --><select><option>1<option>2</select><iframe>no</iframe><br>end",
        ] {
            assert_eq!(text(&[".absent"], html), text(&[], html), "{html}");
        }
    }

    #[test]
    fn a_bad_selector_is_named() {
        for bad in ["", "p[", "a::before-x(", "p:hover(1)", "a,,b"] {
            assert_eq!(Omitted::parse(&["p", bad]).unwrap_err(), SelectorError::Unknown(bad.into()));
        }
        for costly in ["a~b", "p:has( > b)", "li:nth-last-child(2)"] {
            assert_eq!(Omitted::parse(&[costly]).unwrap_err(), SelectorError::Costly(costly.into()));
        }
        assert!(Omitted::parse(&["[class~=ad]"]).is_ok());
    }

    #[test]
    fn a_page_that_is_too_deep_is_read_whole_and_says_so() {
        let omitted = Omitted::parse(&["nav"]).unwrap();
        let deep = format!("<nav>menu</nav>{}deep", "<div>".repeat(100_000));
        let read = omitted.text(deep.as_bytes());
        assert_eq!((read.text.as_str(), read.rule), ("menu\ndeep", Omitted::default().rule()));
        assert_ne!(read.rule, omitted.rule());
        assert_eq!(omitted.text(b"<nav>menu</nav>flat").rule, omitted.rule());
    }

    #[test]
    fn visits_on_any_thread_share_it() {
        fn shared<T: Send + Sync>(_: &T) {}
        shared(&Omitted::default());
    }
}
