//! [`Query`]: what a user typed.

use super::words::{is_unspaced, words};

/// Most terms of a query; further ones are left out.
const MOST_TERMS: usize = 32;

/// A query: its terms must all occur.
///
/// ```
/// use webloom::internals::search::Query;
/// let query = Query::parse("title:guide \"hash map\" conf*");
/// assert_eq!(query.terms().len(), 3);
/// assert!(Query::parse("-- ()").terms().is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query(Vec<Term>);

/// Words that must follow one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// As they were typed.
    pub text: String,
    /// Whether the last may go on.
    pub is_prefix: bool,
    /// Where they must occur; anywhere, if none.
    pub field: Option<QueryField>,
}

/// A part of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryField {
    /// Its title and its first heading.
    Title,
    /// Its URL.
    Url,
}

impl Query {
    /// Reads any text.
    pub fn parse(text: &str) -> Self {
        let mut terms = Vec::new();
        let text = text.replace(char::is_control, " ");
        let mut rest = text.trim_start();
        while !rest.is_empty() && terms.len() < MOST_TERMS {
            let (term, after) = term(rest);
            terms.extend(term);
            rest = after.trim_start();
        }
        Self(terms)
    }

    /// What must occur.
    pub fn terms(&self) -> &[Term] {
        &self.0
    }
}

impl Term {
    /// Its words as they are indexed.
    pub fn words(&self) -> String {
        let cut = words(&self.text);
        // The last character is indexed alone for those who ask for it; here it is in the pair before.
        let ends_in_run = self.text.chars().rev().take_while(|letter| is_unspaced(*letter)).count() > 1;
        match cut.trim_end().rsplit_once(' ').filter(|_| ends_in_run) {
            Some((before, _)) => before.to_owned(),
            None => cut.into_owned(),
        }
    }

    /// Whether its last word may go on: a single character of a script without spaces always may.
    pub fn goes_on(&self) -> bool {
        let run = self.text.chars().rev().take_while(|letter| is_unspaced(*letter)).count();
        self.is_prefix || run == 1
    }
}

/// The first term, if there is any word in it, and what follows.
fn term(text: &str) -> (Option<Term>, &str) {
    let (field, text) = field(text);
    let (given, rest) = match text.strip_prefix('"') {
        Some(phrase) => phrase.split_once('"').unwrap_or((phrase, "")),
        None => text.split_at(text.find(char::is_whitespace).unwrap_or(text.len())),
    };
    let is_prefix = given.ends_with('*') || rest.starts_with('*');
    let rest = rest.strip_prefix('*').unwrap_or(rest);
    let any = given.chars().any(char::is_alphanumeric);
    (any.then(|| Term { text: given.trim_end_matches('*').to_owned(), is_prefix, field }), rest)
}

fn field(text: &str) -> (Option<QueryField>, &str) {
    let fields = [("title:", QueryField::Title), ("url:", QueryField::Url)];
    let named = fields.into_iter().find_map(|(name, field)| Some((Some(field), text.strip_prefix(name)?)));
    named.filter(|(_, rest)| !rest.starts_with(char::is_whitespace) && !rest.is_empty()).unwrap_or((None, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, bool, Option<QueryField>)> {
        let terms = Query::parse(text).0.into_iter();
        terms.map(|Term { text, is_prefix, field }| (text, is_prefix, field)).collect()
    }

    #[test]
    fn phrases_prefixes_and_fields_are_known_and_all_else_is_a_word() {
        let word = |text: &str| (text.to_owned(), false, None);
        assert_eq!(read(" one  two "), [word("one"), word("two")]);
        assert_eq!(read("\"one two\" three"), [word("one two"), word("three")]);
        assert_eq!(read("\"one two"), [word("one two")]);
        assert_eq!(read("conf*"), [("conf".to_owned(), true, None)]);
        assert_eq!(read("\"a conf\"*"), [("a conf".to_owned(), true, None)]);
        assert_eq!(
            read("title:x url:\"a b\""),
            [("x".to_owned(), false, Some(QueryField::Title)), ("a b".to_owned(), false, Some(QueryField::Url)),]
        );
        assert_eq!(read("title: x"), [word("title:"), word("x")]);
        assert_eq!(
            read("AND OR NOT NEAR(a b) {x} ^y a:b"),
            ["AND", "OR", "NOT", "NEAR(a", "b)", "{x}", "^y", "a:b"].map(word)
        );
        assert_eq!(read("* \"\" -- '"), []);
        assert_eq!(read(&"a ".repeat(100)).len(), MOST_TERMS);
    }

    #[test]
    fn a_run_without_spaces_is_a_phrase_of_pairs() {
        let words = |text: &str| Query::parse(text).0[0].words();
        assert_eq!(words("語言"), "語言");
        assert_eq!(words("程式語言"), "程式 式語 語言");
        assert_eq!(words("Rust語言"), "Rust 語言");
        assert_eq!(words("言"), "言");
        assert_eq!(words("word"), "word");
        assert!(Query::parse("言").0[0].goes_on() && !Query::parse("語言").0[0].goes_on());
    }
}
