//! In which order pages answer a query.

use super::Query;
use crate::text::Text;

/// How much a page gains whose name or title is what was asked for, in parts of the best score.
const NAMED: f64 = 1.0;

/// How much a page gains where a line of its text begins with it, as a definition does, in parts of its own score.
const DEFINED: f64 = 0.5;

/// The same for each doubling of the pages that link to it.
const LINKED: f64 = 0.05;

/// What ends the name of a page in its title.
const MARKS: [&str; 7] = [" — ", " – ", " - ", " | ", " (", ": ", " · "];

/// Words before what a line defines.
const KINDS: [&str; 16] = [
    "abstract",
    "async",
    "awaitable",
    "class",
    "classmethod",
    "const",
    "coroutine",
    "def",
    "enum",
    "exception",
    "fn",
    "function",
    "interface",
    "macro",
    "struct",
    "type",
];

/// The page of a folder has its name.
const INDEX: &str = "index";

/// Folders of its path that may belong to the name of a page.
const MOST_PARTS: usize = 4;

/// A page that matches.
#[derive(Debug, Clone)]
pub struct Matched<'a> {
    /// By how often the words occur, and how rare they are (BM25 with weights of the fields); more is better.
    pub relevance: f64,
    /// Pages that link to it.
    pub links: u64,
    /// Its URL.
    pub url: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Lines that begin with what was asked for.
    pub definitions: usize,
}

impl Matched<'_> {
    /// Its score among pages of which `best` is the highest relevance; the best page has the highest. A name counts as much as all
    /// words can: the page of that name may be long, and then its words are rare in it.
    pub fn score(&self, query: &Query, best: f64) -> f64 {
        let asked = typed(query);
        let asked_words = folded(&asked);
        // Of `a.b` and `a::b`, the page of `a` says more than any other but that of `b`.
        let owner = asked.rfind(['.', ':']).map(|mark| folded(&asked[..mark]));
        let all = self.names();
        let of = |wanted: &String| all.iter().filter(|name| *name == wanted).count();
        let named = 2 * of(&asked_words) + owner.as_ref().map_or(0, of);
        let defined = if self.definitions > 0 { DEFINED } else { 0.0 };
        let linked = LINKED * (1.0 + self.links as f64).log2();
        self.relevance * (1.0 + defined + linked) + best * NAMED * named as f64
    }

    /// What it is called: the last parts of its path without its suffix, and its title up to a mark; of a title of two words (Class
    /// X) the last one.
    fn names(&self) -> Vec<String> {
        let path = self.url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        let folder = path.rfind('/').map_or("", |end| &path[..end]);
        let name = path.rsplit('/').next().unwrap_or_default();
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let mut whole = if stem == INDEX { String::new() } else { folded(stem) };
        let end = MARKS.iter().filter_map(|mark| self.title.find(mark)).min().unwrap_or(self.title.len());
        let title = &self.title[..end];
        let title = title.split_once(' ').map(|(_, last)| last).filter(|last| !last.contains(' ')).unwrap_or(title);
        let mut names = vec![folded(title), whole.clone()];
        for part in folder.rsplit('/').take(MOST_PARTS) {
            whole.insert_str(0, &folded(part));
            names.push(whole.clone());
        }
        names.retain(|name| !name.is_empty());
        names
    }
}

/// Lines that begin with what was asked for, as a definition does, which may say first what it is of (`class`).
pub fn definitions(text: &Text, query: &Query) -> usize {
    let asked = typed(query).to_lowercase();
    let begins = |line: &str| {
        let begin = line.get(..asked.len()).is_some_and(|begin| begin.to_lowercase() == asked);
        begin && line[asked.len()..].chars().next().is_none_or(|next| !next.is_alphanumeric() && next != '_')
    };
    let defines = |line: &str| {
        let line = line.trim_start_matches('@');
        begins(line) || line.split_once(' ').is_some_and(|(word, rest)| KINDS.contains(&word) && begins(rest))
    };
    if asked.is_empty() { 0 } else { text.lines().filter(|line| defines(line)).count() }
}

/// What was asked for, as it was typed.
fn typed(query: &Query) -> String {
    query.terms().iter().map(|term| term.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Letters and digits alone, in lower case.
fn folded(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(url: &'a str, title: &'a str) -> Matched<'a> {
        Matched { relevance: 1.0, links: 0, url, title, definitions: 0 }
    }

    #[test]
    fn a_page_of_that_name_comes_before_one_that_names_it() {
        let query = Query::parse("ArrayList");
        let whole = found("http://h/java/util/ArrayList.html", "").score(&Query::parse("java.util.ArrayList"), 1.0);
        let owner = found("http://h/java/util.html", "").score(&Query::parse("java.util.ArrayList"), 1.0);
        assert!(whole > owner && owner > 1.5, "{whole} {owner}");
        let own = found("http://h/java/util/ArrayList.html", "ArrayList (Java SE 17 & JDK 17)").score(&query, 1.0);
        let uses = found("http://h/java/util/class-use/X.html", "Uses of Class java.util.ArrayList").score(&query, 1.0);
        assert!(own > 2.0 * uses);
        let titled = found("http://h/p?id=3", "Class ArrayList - a library").score(&query, 1.0);
        assert!(titled > uses && titled < own);
        let linked = Matched { links: 1000, ..found("http://h/a", "") }.score(&query, 1.0);
        assert!(linked > uses && linked < titled);
        assert!(found("http://h/", "").score(&Query::parse("--"), 1.0) > 0.0);
    }

    #[test]
    fn a_definition_begins_a_line_and_ends_with_its_word() {
        let text = Text::from_lines(["os.walk(top, topdown=True)", "Os.Walk", "os.walker", "see os.walk"]);
        assert_eq!(definitions(&text, &Query::parse("os.walk")), 2);
        assert_eq!(definitions(&text, &Query::parse("--")), 0);
    }
}
