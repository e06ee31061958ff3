//! `scope.sections`: what an entry is, and how it is written.

use std::time::Duration;

use super::{
    budget::{DEPTH, PAGES},
    pattern::pattern_behind,
};
use crate::{
    config::{
        RawValue, print_duration,
        rules::{Checked, DurationRange, Rule},
    },
    sections::{ANY_DEPTH, UrlSection, UrlSections},
};

/// The key of the sections.
pub(in crate::config) const URL_SECTIONS: &str = "scope.sections";

/// What a section may limit.
pub(in crate::config) const SECTION_LIMITS: [&str; 3] = ["max_depth", "max_pages", "delay"];

const PAUSES: DurationRange = DurationRange(Duration::ZERO..=Duration::from_hours(24));

/// What an entry is.
const ENTRY: &str = "REGEX => LIMITS, where LIMITS are one or more of max_depth=N, max_pages=N and delay=DURATION";

/// A list of patterns, each with limits.
pub(super) struct SectionRule;

impl Rule for SectionRule {
    type Value = UrlSections;

    fn allowed(&self) -> String {
        format!("a list; each entry is {ENTRY}")
    }

    fn check(&self, raw: &RawValue) -> Result<Checked<UrlSections>, String> {
        let mut sections = Vec::new();
        for (at, text) in raw.as_list().ok_or_else(|| self.refusal())?.iter().enumerate() {
            let section = entry(&sections, text).map_err(|why| format!("entry {}: {why}", at + 1))?;
            sections.push(section);
        }
        let canonical = RawValue::List(sections.iter().map(written_section).collect());
        Ok(Checked { value: UrlSections::new(sections), canonical })
    }
}

fn entry(others: &[UrlSection], text: &str) -> Result<UrlSection, String> {
    let form = || format!("give {ENTRY}");
    let (regex, limits) = text.rsplit_once("=>").ok_or_else(form)?;
    let mut given: Vec<(&'static str, RawValue)> = Vec::new();
    for word in limits.split_whitespace() {
        let (name, value) = word.split_once('=').ok_or_else(form)?;
        let name = SECTION_LIMITS.into_iter().find(|limit| *limit == name).ok_or_else(form)?;
        if given.iter().any(|(one, _)| *one == name) {
            return Err(format!("give {name} once"));
        }
        given.push((name, RawValue::text(value)));
    }
    section(others, regex.trim(), &given)
        .map_err(|(key, why)| if key == "match" { why } else { format!("{key}: {why}") })
}

/// A section of this pattern and these limits, behind others, or which key is wrong and why.
pub(in crate::config) fn section(
    others: &[UrlSection],
    regex: &str,
    limits: &[(&'static str, RawValue)],
) -> Result<UrlSection, (&'static str, String)> {
    let pattern = pattern_behind(others.iter().map(|other| &other.pattern), regex);
    let pattern = pattern.map_err(|why| ("match", why))?;
    if limits.is_empty() {
        return Err(("match", "it has no limit; give max_depth, max_pages or delay".to_owned()));
    }
    let mut section = UrlSection { pattern, max_depth: None, max_pages: None, delay: None };
    for (name, value) in limits {
        let name = *name;
        let wrong = |why| (name, why);
        match name {
            "max_depth" => {
                section.max_depth = Some(DEPTH.check(value).map_err(wrong)?.value.unwrap_or(ANY_DEPTH));
            }
            "max_pages" => section.max_pages = PAGES.check(value).map_err(wrong)?.value,
            _ => section.delay = Some(PAUSES.check(value).map_err(wrong)?.value),
        }
    }
    Ok(section)
}

/// A section as an entry of a list; equal limits are written alike.
pub(in crate::config) fn written_section(section: &UrlSection) -> String {
    let depth = section.max_depth.map(|most| match most {
        ANY_DEPTH => "max_depth=unlimited".to_owned(),
        most => format!("max_depth={most}"),
    });
    let pages = section.max_pages.map(|most| format!("max_pages={most}"));
    let delay = section.delay.map(|delay| format!("delay={}", print_duration(delay)));
    let limits: Vec<_> = depth.into_iter().chain(pages).chain(delay).collect();
    // One without a limit keeps those behind it from counting.
    let limits = if limits.is_empty() { "max_pages=unlimited".to_owned() } else { limits.join(" ") };
    format!("{} => {limits}", section.pattern)
}
