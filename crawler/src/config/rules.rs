//! What a value must look like: one type per kind of value.

use std::{fmt::Display, marker::PhantomData, ops::RangeInclusive, str::FromStr, time::Duration};

use super::{RawValue, parse_duration, parse_size, print_duration, print_size};

/// A value that a rule let through.
pub(super) struct Checked<T> {
    /// What it means.
    pub(super) value: T,
    /// How it is written: the same for equal values.
    pub(super) canonical: RawValue,
}

/// A kind of value.
pub(super) trait Rule {
    /// What the value means.
    type Value;

    /// What is allowed, as it follows "give".
    fn allowed(&self) -> String;

    /// The meaning of `raw`, or a sentence that says what is allowed.
    fn check(&self, raw: &RawValue) -> Result<Checked<Self::Value>, String>;

    /// For rules whose refusal says no more than what is allowed.
    fn refusal(&self) -> String {
        format!("give {}", self.allowed())
    }
}

/// A whole number within a range.
pub(super) struct Count<T>(pub(super) RangeInclusive<T>);

/// A duration within a range.
pub(super) struct DurationRange(pub(super) RangeInclusive<Duration>);

/// A size in bytes within a range.
pub(super) struct Size(pub(super) RangeInclusive<u64>);

/// A number, with a fraction or not, within a range.
pub(super) struct Real(pub(super) RangeInclusive<f64>);

/// What `rule` allows, or `word` for none.
pub(super) struct Unless<R> {
    pub(super) word: &'static str,
    pub(super) rule: R,
}

/// One of the words of an enum.
pub(super) struct OneOf<T>(pub(super) PhantomData<T>);

/// A text that `parse` reads; its error says why not.
pub(super) struct Parsed<T> {
    pub(super) allowed: &'static str,
    pub(super) parse: fn(&str) -> Result<T, String>,
}

/// A list of texts that `parse` reads.
pub(super) struct Each<T>(pub(super) Parsed<T>);

/// An enum whose variants are words in the configuration.
pub(super) trait Words: Copy + 'static {
    /// Every variant.
    const ALL: &'static [Self];

    /// Its word.
    fn word(self) -> &'static str;
}

impl<T> Rule for Count<T>
where
    T: Copy + PartialOrd + Display + FromStr,
{
    type Value = T;

    fn allowed(&self) -> String {
        format!("a whole number from {} to {}", self.0.start(), self.0.end())
    }

    fn check(&self, raw: &RawValue) -> Result<Checked<T>, String> {
        let value: T = raw.as_number().filter(|number| self.0.contains(number)).ok_or_else(|| self.refusal())?;
        let text = value.to_string();
        let canonical = text.parse().map_or_else(|_| RawValue::text(text), RawValue::Integer);
        Ok(Checked { value, canonical })
    }
}

impl Rule for DurationRange {
    type Value = Duration;

    fn allowed(&self) -> String {
        format!("a duration from {} to {}", print_duration(*self.0.start()), print_duration(*self.0.end()))
    }

    fn check(&self, raw: &RawValue) -> Result<Checked<Duration>, String> {
        let duration = raw.as_number().map(Duration::from_secs).or_else(|| raw.as_text().and_then(parse_duration));
        let value = duration.filter(|duration| self.0.contains(duration)).ok_or_else(|| self.refusal())?;
        Ok(Checked { value, canonical: RawValue::text(print_duration(value)) })
    }
}

impl Rule for Size {
    type Value = u64;

    fn allowed(&self) -> String {
        format!("a size from {} to {}", print_size(*self.0.start()), print_size(*self.0.end()))
    }

    fn check(&self, raw: &RawValue) -> Result<Checked<u64>, String> {
        let size = raw.as_number().or_else(|| raw.as_text().and_then(parse_size));
        let value = size.filter(|size| self.0.contains(size)).ok_or_else(|| self.refusal())?;
        Ok(Checked { value, canonical: RawValue::text(print_size(value)) })
    }
}

impl Rule for Real {
    type Value = f64;

    fn allowed(&self) -> String {
        format!("a number from {} to {}", self.0.start(), self.0.end())
    }

    fn check(&self, raw: &RawValue) -> Result<Checked<f64>, String> {
        let value = raw.as_number().filter(|number| self.0.contains(number)).ok_or_else(|| self.refusal())?;
        Ok(Checked { value, canonical: RawValue::Number(value) })
    }
}

impl<R: Rule> Rule for Unless<R> {
    type Value = Option<R::Value>;

    fn allowed(&self) -> String {
        format!("{}, or \"{}\"", self.rule.allowed(), self.word)
    }

    fn check(&self, raw: &RawValue) -> Result<Checked<Self::Value>, String> {
        if raw.as_text().is_some_and(|text| text == self.word || (text == "none" && self.word == "unlimited")) {
            return Ok(Checked { value: None, canonical: RawValue::text(self.word) });
        }
        let checked = self.rule.check(raw).map_err(|_| self.refusal())?;
        Ok(Checked { value: Some(checked.value), canonical: checked.canonical })
    }
}

impl<T: Words> Rule for OneOf<T> {
    type Value = T;

    fn allowed(&self) -> String {
        T::ALL.iter().map(|variant| format!("\"{}\"", variant.word())).collect::<Vec<_>>().join(" or ")
    }

    fn check(&self, raw: &RawValue) -> Result<Checked<T>, String> {
        let found = raw.as_text().and_then(|text| T::ALL.iter().find(|variant| variant.word() == text));
        let value = *found.ok_or_else(|| format!("give {}", self.allowed()))?;
        Ok(Checked { value, canonical: RawValue::text(value.word()) })
    }
}

impl<T> Rule for Parsed<T> {
    type Value = T;

    fn allowed(&self) -> String {
        self.allowed.to_owned()
    }

    fn check(&self, raw: &RawValue) -> Result<Checked<T>, String> {
        let text = match raw {
            RawValue::Integer(number) => number.to_string(),
            _ => raw.as_text().ok_or_else(|| self.refusal())?.to_owned(),
        };
        let value = (self.parse)(&text).map_err(|why| format!("{why}; give {}", self.allowed))?;
        Ok(Checked { value, canonical: RawValue::Text(text) })
    }
}

impl<T> Rule for Each<T> {
    type Value = Vec<T>;

    fn allowed(&self) -> String {
        format!("a list; each entry is {}", self.0.allowed)
    }

    fn check(&self, raw: &RawValue) -> Result<Checked<Vec<T>>, String> {
        let entries = raw.as_list().ok_or_else(|| self.refusal())?;
        let mut value = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let parsed = (self.0.parse)(entry.trim());
            value.push(parsed.map_err(|why| format!("entry {}: {why}; give {}", at + 1, self.0.allowed))?);
        }
        Ok(Checked { value, canonical: RawValue::List(entries) })
    }
}

/// An enum with its words in the configuration.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Its word in the configuration.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl $crate::config::rules::Words for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn word(self) -> &'static str {
                self.as_str()
            }
        }
    };
}
pub(super) use words;

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical<R: Rule>(rule: &R, raw: &RawValue) -> Result<String, String> {
        rule.check(raw).map(|checked| checked.canonical.to_string())
    }

    #[test]
    fn equal_values_are_written_the_same() {
        let span = DurationRange(Duration::ZERO..=Duration::from_hours(1));
        for raw in [RawValue::Integer(60), RawValue::text("60s"), RawValue::text(" 1m "), RawValue::text("60")] {
            assert_eq!(canonical(&span, &raw), Ok("\"1m\"".into()));
        }
        let limit = Unless { word: "unlimited", rule: Count(1..=10_u32) };
        for raw in [RawValue::text("none"), RawValue::text("unlimited")] {
            assert_eq!(canonical(&limit, &raw), Ok("\"unlimited\"".into()));
        }
        assert_eq!(canonical(&limit, &RawValue::text("7")), canonical(&limit, &RawValue::Integer(7)));
        assert_eq!(canonical(&Real(0.0..=1.0), &RawValue::text("1e-3")), Ok("0.001".into()));
    }

    #[test]
    fn refuses_and_says_what_is_allowed() {
        let limit = Unless { word: "unlimited", rule: Count(1..=10_u32) };
        for raw in [RawValue::Integer(-1), RawValue::Number(1.5), RawValue::text("x"), RawValue::List(vec![])] {
            assert_eq!(canonical(&limit, &raw), Err("give a whole number from 1 to 10, or \"unlimited\"".into()));
        }
        for raw in [RawValue::Number(f64::NAN), RawValue::text("inf"), RawValue::text("-0.1")] {
            canonical(&Real(0.0..=1.0), &raw).unwrap_err();
        }
    }
}
