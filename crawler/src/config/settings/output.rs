//! `[log]`: for one run, never taken from a crawl directory.

use std::marker::PhantomData;

use crate::config::{
    reader::KeyReader,
    rules::{OneOf, Parsed, words},
};

/// Levels, the quietest first.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

const DIRECTIVES: Parsed<String> = Parsed {
    allowed: "off, error, warn, info, debug or trace, for everything or as MODULE=LEVEL, separated by commas",
    parse: directives,
};

words! {
    /// How a log line looks.
    LogFormat {
        /// For people.
        Text = "text",
        /// One JSON object a line.
        Json = "json",
    }
}

/// What the program says about its work.
#[derive(Debug, Clone)]
pub struct LogSettings {
    /// Levels with commas between, each in all or after `MODULE=`: a directive list of `tracing_subscriber::EnvFilter`.
    pub level: String,
    /// How a line looks.
    pub format: LogFormat,
}

impl LogSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        Self { level: reader.read("log.level", &DIRECTIVES), format: reader.read("log.format", &OneOf(PhantomData)) }
    }
}

/// Stricter than `EnvFilter`, which takes a misspelt level for a module.
fn directives(text: &str) -> Result<String, String> {
    let is_module = |module: &str| {
        !module.is_empty() && module.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b':')
    };
    for directive in text.split(',') {
        let (module, level) = directive.split_once('=').unwrap_or(("all", directive));
        if !LEVELS.contains(&level) || !is_module(module) {
            return Err(format!("\"{directive}\" is not a level"));
        }
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_lets_through_is_a_filter() {
        for text in ["info", "off", "warn,webloom::engine=debug", "hyper_util=error,trace"] {
            directives(text).unwrap();
            tracing_subscriber::EnvFilter::try_new(text).unwrap();
        }
        for text in ["", "inof", "info,", "=info", "webloom=loud", "a b=info", "info, warn"] {
            directives(text).unwrap_err();
        }
    }
}
