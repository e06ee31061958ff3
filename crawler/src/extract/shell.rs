//! [`is_shell`]: whether a page shows next to nothing until its scripts have run.
//!
//! Scripts do not run here, so the links and the text that they add are not found. Whoever crawls such a site should know.

use super::{collected::Collected, collector::text_of, element::Element, lines::ImageText};

/// A shell says no more than this, in bytes: room for a request to switch scripts on.
const MOST_TEXT: usize = 200;

/// It has no more links than this: one to a page that helps to switch scripts on, and one to the start.
const MOST_LINKS: usize = 2;

/// Whether a page with scripts has next to no text and no links, and is neither a set of frames nor a redirect.
pub(super) fn is_shell(html: &[u8], found: &Collected) -> bool {
    let leads_on = |element| matches!(element, Element::Frame | Element::InlineFrame | Element::Refresh);
    let is_link = |element| matches!(element, Element::Anchor | Element::Area | Element::Form);
    found.has_scripts
        && found.links.elements().filter(|element| is_link(*element)).count() <= MOST_LINKS
        && !found.links.elements().any(leads_on)
        && text_of(html, ImageText::Nothing).as_str().len() <= MOST_TEXT
}

#[cfg(test)]
mod tests {
    use super::super::{LinkLimits, Reading, ReferenceSeed, scan};
    use crate::url::WebUrl;

    fn needs_js(html: &str) -> bool {
        let url = WebUrl::parse("http://h/").unwrap();
        let reading = Reading::links(LinkLimits::NONE, ReferenceSeed::random());
        scan(html.as_bytes(), Some("text/html"), &url, &reading).head.needs_js
    }

    #[test]
    fn what_has_only_scripts_is_a_shell() {
        let state = format!("<script>state = '{}'</script>", "long ".repeat(1000));
        for html in [
            "<title>App</title><link rel=stylesheet href=s><div id=root></div><script src=app.js></script>",
            "<noscript>Please <a href=http://enable/>enable</a> scripts.</noscript><div id=app></div><script>run()</script>",
            &state,
        ] {
            assert!(needs_js(html), "{html}");
        }
    }

    #[test]
    fn what_shows_something_or_leads_on_is_none() {
        let text = format!("<script src=x></script><p>{}", "word ".repeat(60));
        for html in [
            "<p>short, and without scripts",
            "<script src=x></script><a href=1>1</a><a href=2>2</a><a href=3>3</a>",
            "<script src=x></script><frameset><frame src=f></frameset>",
            "<script src=x></script><meta http-equiv=refresh content='0;url=/next'>",
            "",
            &text,
        ] {
            assert!(!needs_js(html), "{html}");
        }
    }
}
