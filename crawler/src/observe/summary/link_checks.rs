//! What came of links to what is no page of the crawl.

use serde_json::{Value, json};

use crate::{
    observe::figures::{count, counted},
    store::LinkCheckCounts,
};

/// For scripts; null where nothing was to be checked.
pub(super) fn document(counts: &LinkCheckCounts) -> Value {
    if counts.all() == 0 {
        return Value::Null;
    }
    json!({
        "urls": counts.all(), "good": counts.good, "redirected": counts.redirected, "broken": counts.broken,
        "failed": counts.failed, "forbidden": counts.forbidden, "beyond_limit": counts.beyond_limit, "waiting": counts.left,
    })
}

/// For people; nothing where nothing was to be checked.
pub(super) fn line(counts: &LinkCheckCounts) -> String {
    if counts.all() == 0 {
        return String::new();
    }
    let mut text = format!("link check  {} = {} good", counted(counts.all(), "URL", "URLs"), count(counts.good));
    let parts = [
        (counts.redirected, "redirect", "redirects"),
        (counts.broken, "broken", "broken"),
        (counts.failed, "without an answer", "without an answer"),
        (counts.forbidden, "forbidden", "forbidden"),
        (counts.beyond_limit, "beyond check.max_per_host", "beyond check.max_per_host"),
        (counts.left, "waiting", "waiting"),
    ];
    for (number, one, many) in parts.into_iter().filter(|(number, ..)| *number > 0) {
        text += &format!(" + {}", counted(number, one, many));
    }
    text + "\n"
}
