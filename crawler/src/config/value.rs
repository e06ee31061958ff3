//! [`RawValue`]: a value as a file, a variable or a flag gives it; and [`SecretValue`], which hides one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is printed instead of a secret.
pub(super) const HIDDEN: &str = "(secret)";

/// A value before anybody checked it. Flags and variables give text; files give what TOML has.
///
/// ```
/// use webloom::internals::config::RawValue;
/// assert_eq!(RawValue::text("1s").to_string(), "\"1s\"");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RawValue {
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Number(f64),
    /// A text: a word, a duration, a size, or a number from a flag or a variable.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

impl RawValue {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The text without blanks around it, when it is one.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.trim()),
            _ => None,
        }
    }

    /// The number that a number or a text of one says. A number from a file that is no `T` is none either.
    pub(super) fn as_number<T: std::str::FromStr>(&self) -> Option<T> {
        match self {
            Self::Integer(number) => number.to_string().parse().ok(),
            Self::Number(number) => number.to_string().parse().ok(),
            Self::Text(text) => text.trim().parse().ok(),
            Self::List(_) => None,
        }
    }

    /// The entries of a list; a text is a list of its lines without the empty ones.
    pub(super) fn as_list(&self) -> Option<Vec<String>> {
        match self {
            Self::List(entries) => Some(entries.clone()),
            Self::Text(text) => {
                Some(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
            }
            _ => None,
        }
    }
}

impl fmt::Display for RawValue {
    /// As TOML writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = toml::Value::try_from(self).map_err(|_| fmt::Error)?;
        write!(f, "{value}")
    }
}

/// A [`RawValue`] that may hold a secret: serialised as it is, never printed.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretValue(pub(super) RawValue);

impl SecretValue {
    /// Hides a value.
    pub fn new(value: RawValue) -> Self {
        Self(value)
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}
