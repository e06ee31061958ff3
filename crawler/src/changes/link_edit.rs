//! [`link_edits`]: links of a page that say what they said, and lead elsewhere.

use std::collections::{BTreeMap, BTreeSet};

/// Links of a page that are compared, at most.
const MOST_LINKS: usize = 10_000;

/// A link of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextLink {
    /// What it says.
    pub text: Box<str>,
    /// Where it leads: the same for the same page.
    pub target: Box<str>,
}

/// Links with a text that lead elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkEdit {
    /// What they say.
    pub text: Box<str>,
    /// Where they led, and where they lead now.
    pub targets: [Box<str>; 2],
}

/// Those between two looks at a page; none where it has too many links. A link whose text is another is an edit of the text.
pub fn link_edits(before: &[TextLink], after: &[TextLink]) -> Vec<LinkEdit> {
    if before.len().max(after.len()) > MOST_LINKS {
        return Vec::new();
    }
    let [before, after] = [before, after].map(by_text);
    let mut edits = Vec::new();
    for (text, targets) in &before {
        let Some(now) = after.get(text) else { continue };
        let gone: Vec<_> = targets.difference(now).copied().collect();
        let come: Vec<_> = now.difference(targets).copied().collect();
        if !(gone.is_empty() || come.is_empty()) {
            let targets = [gone, come].map(|targets| targets.join(" ").into());
            edits.push(LinkEdit { text: (*text).into(), targets });
        }
    }
    edits
}

fn by_text(links: &[TextLink]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut targets = BTreeMap::<&str, BTreeSet<&str>>::new();
    for link in links.iter().filter(|link| link.text.contains(char::is_alphanumeric)) {
        targets.entry(&link.text).or_default().insert(&link.target);
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &[[&str; 2]], after: &[[&str; 2]]) -> Vec<String> {
        let links = |links: &[[&str; 2]]| -> Vec<_> {
            links.iter().map(|[text, target]| TextLink { text: (*text).into(), target: (*target).into() }).collect()
        };
        let edits = link_edits(&links(before), &links(after));
        edits.iter().map(|edit| format!("{}: {}>{}", edit.text, edit.targets[0], edit.targets[1])).collect()
    }

    #[test]
    fn a_link_that_leads_elsewhere_is_an_edit() {
        assert_eq!(
            shown(&[["Guide", "/old"], ["Home", "/"]], &[["Home", "/"], ["Guide", "/new"]]),
            ["Guide: /old>/new"]
        );
        assert!(shown(&[["Guide", "/old"]], &[["Manual", "/old"]]).is_empty(), "the text is another");
        assert!(shown(&[["Guide", "/old"]], &[["Guide", "/old"], ["Guide", "/new"]]).is_empty(), "one more");
        assert!(shown(&[["", "/old"]], &[["", "/new"]]).is_empty(), "nobody sees it");
        assert_eq!(shown(&[["More", "/1"], ["More", "/2"]], &[["More", "/2"], ["More", "/3"]]), ["More: /1>/3"]);
    }
}
