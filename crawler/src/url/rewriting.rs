//! [`KeyRewrite`]: an expression of the user's, and what takes its place in keys.

use regex::{Regex, RegexBuilder};
use thiserror::Error;

/// Most memory a compiled expression may take, in bytes.
const EXPRESSION_SIZE: usize = 1 << 20;

/// The longest text that may take the place of what matches, in bytes: so that no result is too long.
const LONGEST: usize = 256;

/// What separates an expression from what takes its place.
const ARROW: &str = "=>";

/// Every match of a regular expression is replaced.
///
/// ```
/// use webloom::internals::url::KeyRewrite;
/// let rewrite = KeyRewrite::new("/print/([0-9]+) => /page/$1")?;
/// assert_eq!(rewrite.applied("http://h/print/7"), "http://h/page/7");
/// # Ok::<(), webloom::internals::url::UnusableRewrite>(())
/// ```
#[derive(Debug, Clone)]
pub struct KeyRewrite {
    expression: Regex,
    to: Box<str>,
}

/// Why a text is no [`KeyRewrite`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnusableRewrite {
    /// It does not say what takes the place.
    #[error("the arrow => is missing")]
    Arrow,
    /// It would match everywhere.
    #[error("there is no expression before the arrow")]
    Empty,
    /// What takes the place is too long.
    #[error("what follows the arrow has at most {LONGEST} characters")]
    Long,
    /// It cannot be compiled.
    #[error("{0}")]
    Expression(String),
}

impl KeyRewrite {
    /// Reads `REGEX => REPLACEMENT`; in the replacement `$1` is the first group. Blanks around both do not count.
    ///
    /// # Errors
    /// [`UnusableRewrite`] where it has another form.
    pub fn new(text: &str) -> Result<Self, UnusableRewrite> {
        let (expression, to) = text.rsplit_once(ARROW).ok_or(UnusableRewrite::Arrow)?;
        let (expression, to) = (expression.trim(), to.trim());
        if expression.is_empty() {
            return Err(UnusableRewrite::Empty);
        }
        if to.len() > LONGEST {
            return Err(UnusableRewrite::Long);
        }
        let expression = RegexBuilder::new(expression).size_limit(EXPRESSION_SIZE).build().map_err(|error| {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            UnusableRewrite::Expression(last.trim_start_matches("error: ").trim_end_matches('.').to_owned())
        })?;
        Ok(Self { expression, to: to.into() })
    }

    /// A text with all matches replaced.
    pub fn applied<'a>(&self, text: &'a str) -> std::borrow::Cow<'a, str> {
        self.expression.replace_all(text, &*self.to)
    }
}

/// As [`KeyRewrite::new`] reads it.
impl std::fmt::Display for KeyRewrite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {ARROW} {}", self.expression.as_str(), self.to)
    }
}

impl PartialEq for KeyRewrite {
    fn eq(&self, other: &Self) -> bool {
        self.expression.as_str() == other.expression.as_str() && self.to == other.to
    }
}

impl Eq for KeyRewrite {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for text in ["a => b", "(?i)x=>y => $1", "a => ", "^http://m\\. => http://"] {
            let rewrite = KeyRewrite::new(text).unwrap();
            assert_eq!(rewrite.to_string(), text);
            assert_eq!(KeyRewrite::new(&rewrite.to_string()), Ok(rewrite));
        }
        assert_eq!(KeyRewrite::new("b").unwrap_err(), UnusableRewrite::Arrow);
        assert_eq!(KeyRewrite::new(" => b").unwrap_err(), UnusableRewrite::Empty);
        assert_eq!(KeyRewrite::new("( => b").unwrap_err().to_string(), "unclosed group");
        assert_eq!(KeyRewrite::new(&format!("a => {}", "b".repeat(257))).unwrap_err(), UnusableRewrite::Long);
        assert!(matches!(KeyRewrite::new("(a{1000}){1000} => b"), Err(UnusableRewrite::Expression(_))));
    }
}
