//! A query as FTS5 reads it.

use crate::search::{QueryField, Term};

/// Terms as FTS5 reads them. What users typed is in strings alone.
pub(super) fn expression(terms: &[Term]) -> String {
    let term = |term: &Term| {
        let field = match term.field {
            None => "",
            Some(QueryField::Title) => "{title heading} : ",
            Some(QueryField::Url) => "address : ",
        };
        format!("{field}\"{}\"{}", term.words().replace('"', "\"\""), if term.goes_on() { " *" } else { "" })
    };
    terms.iter().map(term).collect::<Vec<_>>().join(" AND ")
}

/// The same in titles and first headings.
pub(super) fn in_titles(matching: &str) -> String {
    format!("{{title heading}} : ({matching})")
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::search::Query;

    #[test]
    fn no_text_is_an_error_of_the_index() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(super::super::TABLE).unwrap();
        for text in [
            "a\"b",
            "\"",
            "NOT x",
            "a AND",
            "x* y",
            "title:a*",
            "{a}:b",
            "^a",
            "a + b",
            "語 程式",
            "\u{0}a",
            "-a",
            "'; DROP",
        ] {
            let query = Query::parse(text);
            let matching = expression(query.terms());
            for matching in [in_titles(&matching), matching].iter().filter(|_| !query.terms().is_empty()) {
                let count = "SELECT count(*) FROM page_words WHERE page_words MATCH ?";
                assert_eq!(connection.query_row(count, [matching], |row| row.get(0)), Ok(0), "{text}");
            }
        }
    }
}
