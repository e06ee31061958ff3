//! JSON Lines: one object a line, and the fields of it that a flag names.
//!
//! Invariants: one line is held at a time; blank lines are skipped; whatever is wrong with a line is said with its number.

use std::{borrow::Cow, path::Path};

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::{Map, Value};

use super::report::printable;
use crate::lines::Lines;

/// Field names to show of a line that lacks one.
const SHOWN: usize = 8;

/// One line.
pub(super) struct Record<'line> {
    fields: Map<String, Value>,
    /// The line itself.
    pub(super) line: &'line str,
}

/// Reads each record of a file, or of standard input; returns how many there were.
///
/// # Errors
/// The file cannot be read or has no record, a line is no JSON object, or what is done with a record fails.
pub(super) fn for_each(file: Option<&Path>, mut each: impl FnMut(&Record<'_>) -> Result<()>) -> Result<u64> {
    let name = file.map_or_else(|| "standard input".to_owned(), |path| path.display().to_string());
    let mut lines = file.map_or_else(|| Ok(Lines::of_stdin()), Lines::of)?;
    let mut records = 0;
    while let Some(line) = lines.next()? {
        let line = line.trim_ascii();
        if !line.is_empty() {
            let done = Record::parse(line).and_then(|record| each(&record));
            done.with_context(|| format!("{name}, line {}", lines.number()))?;
            records += 1;
        }
    }
    ensure!(records > 0, "{name} has no line; give one JSON object a line");
    Ok(records)
}

impl<'line> Record<'line> {
    fn parse(line: &'line [u8]) -> Result<Self> {
        let line = std::str::from_utf8(line).map_err(|_| anyhow!("the line is not UTF-8"))?;
        match serde_json::from_str(line) {
            Ok(Value::Object(fields)) => Ok(Self { fields, line }),
            Ok(_) => bail!("the line is not a JSON object, such as {{\"from\": \"a\", \"to\": \"b\"}}"),
            Err(error) => {
                let said = error.to_string();
                // It counts lines from the beginning of this one.
                let said = said.rsplit_once(" at line ").map_or(&*said, |(said, _)| said);
                bail!("the line is not JSON: {said} at column {}", error.column())
            }
        }
    }

    /// The one value of a field, as text.
    pub(super) fn text(&self, field: &str) -> Result<Cow<'_, str>> {
        text(field, self.value(field)?)
    }

    /// Each value of a field: of a list its elements, else the value itself.
    pub(super) fn texts(&self, field: &str) -> Result<Vec<Cow<'_, str>>> {
        match self.value(field)? {
            Value::Array(values) => values.iter().map(|value| text(field, value)).collect(),
            value => Ok(vec![text(field, value)?]),
        }
    }

    /// The number in a field.
    pub(super) fn number(&self, field: &str) -> Result<f64> {
        let value = self.value(field)?;
        value.as_f64().with_context(|| format!("the field `{field}` is {}, not a number", shown(value)))
    }

    fn value(&self, field: &str) -> Result<&Value> {
        self.fields.get(field).with_context(|| {
            let names: Vec<_> = self.fields.keys().take(SHOWN).map(|name| format!("`{}`", printable(name))).collect();
            format!("there is no field `{field}`; the line has {}", names.join(", "))
        })
    }
}

fn text<'value>(field: &str, value: &'value Value) -> Result<Cow<'value, str>> {
    match value {
        Value::String(text) => Ok(text.into()),
        Value::Number(number) => Ok(number.to_string().into()),
        Value::Bool(bool) => Ok(bool.to_string().into()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            bail!("the field `{field}` is {}, not a text or a number", shown(value))
        }
    }
}

fn shown(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The words of a text: runs of letters and digits, in lower case.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_texts() {
        let line = br#"{"a": "x", "n": 1.50, "b": true, "l": ["y", 2], "o": {}, "z": null, "e": []}"#;
        let record = Record::parse(line).unwrap();
        let texts = |field| record.texts(field).map(|texts| texts.join("|")).map_err(|error| error.to_string());
        assert_eq!(["a", "n", "b", "l", "e"].map(texts), ["x", "1.5", "true", "y|2", ""].map(|t| Ok(t.to_owned())));
        assert!(["o", "z", "?"].map(texts).iter().all(Result::is_err));
        assert!((record.number("n").unwrap() - 1.5).abs() < 1e-9 && record.number("a").is_err());
        assert!(record.text("l").is_err());
    }

    #[test]
    fn texts_have_words() {
        assert_eq!(
            words("The URL-cache: 2^20 (Ärger)").collect::<Vec<_>>(),
            ["the", "url", "cache", "2", "20", "ärger"]
        );
    }
}
