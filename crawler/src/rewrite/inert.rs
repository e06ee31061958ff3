//! XML documents that do nothing by themselves.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex};

/// Scripts, what runs when something happens, links that run scripts, and style sheets that transform the document. Entities may hide any of
/// them: a document that declares some is none any more.
static ACTIVE: LazyLock<Regex> = LazyLock::new(|| {
    let patterns = r"(?i)(</?(?:[\w.-]+:)?)script\b|(\s)(on\w+\s*=)|(j)avascript:|<\?(xml-stylesheet)|<!(ENTITY)";
    Regex::new(patterns).expect("this is a pattern")
});

/// The document with other names for what would run.
pub(super) fn without_scripts(text: &str) -> Cow<'_, str> {
    ACTIVE.replace_all(text, |found: &Captures<'_>| {
        let part = |number| found.get(number).map_or("", |part| part.as_str());
        match (part(1), part(2), part(4), part(5)) {
            (begin, ..) if !begin.is_empty() => format!("{begin}desc"),
            (_, space, ..) if !space.is_empty() => format!("{space}no-{}", part(3)),
            (_, _, script, _) if !script.is_empty() => "no-script:".to_owned(),
            (.., sheet) if !sheet.is_empty() => "<?no-stylesheet".to_owned(),
            _ => "<!NO".to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_runs() {
        for (text, expected) in [
            ("<svg><script>a</script></svg>", "<svg><desc>a</desc></svg>"),
            ("<s:SCRIPT x=y/>", "<s:desc x=y/>"),
            ("<svg onload='a()' on=b>", "<svg no-onload='a()' on=b>"),
            ("<a href='JavaScript:a()'>", "<a href='no-script:a()'>"),
            ("<?xml-stylesheet href='a.xsl'?>", "<?no-stylesheet href='a.xsl'?>"),
            ("<!DOCTYPE a [<!ENTITY b '&#60;script>'>]>", "<!DOCTYPE a [<!NO b '&#60;script>'>]>"),
            ("<g>description of a lesson = 1</g>", "<g>description of a lesson = 1</g>"),
        ] {
            assert_eq!(without_scripts(text), expected);
        }
    }
}
