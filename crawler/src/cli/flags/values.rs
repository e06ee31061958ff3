//! From what was given to raw values.

use crate::config::RawValue;

pub(super) fn text(given: Option<&String>) -> Option<RawValue> {
    given.map(RawValue::text)
}

pub(super) fn list(given: &[String]) -> Option<RawValue> {
    (!given.is_empty()).then(|| RawValue::List(given.to_vec()))
}
