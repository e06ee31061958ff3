//! Regular expressions in settings.

use regex::{Regex, RegexBuilder};

/// Most memory a compiled pattern may take, in bytes: a pattern such as `(a{1000}){1000}` is refused, not compiled.
const PATTERN_SIZE: usize = 1 << 20;

/// The pattern of an entry, behind those of others: it can never decide where one before it is the same.
pub(super) fn pattern_behind<'a>(mut others: impl Iterator<Item = &'a Regex>, text: &str) -> Result<Regex, String> {
    if text.is_empty() {
        return Err("the pattern is empty; give a regular expression".to_owned());
    }
    let read = pattern(text).map_err(|why| format!("{why}; give a regular expression"))?;
    match others.position(|other| other.as_str() == text) {
        Some(same) => Err(format!("entry {} has the same pattern and comes first", same + 1)),
        None => Ok(read),
    }
}

pub(super) fn pattern(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text).size_limit(PATTERN_SIZE).build().map_err(|error| {
        let text = error.to_string();
        let last = text.lines().last().unwrap_or_default();
        last.trim_start_matches("error: ").trim_end_matches('.').to_owned()
    })
}
