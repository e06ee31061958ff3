//! Reading the documents.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// A file of the workspace.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The README and the pages of `docs/`, by their paths in the workspace.
pub(crate) fn user_documents() -> Vec<String> {
    let files = fs::read_dir(root().join("docs")).unwrap();
    let names = files.filter_map(|file| Some(file.unwrap().file_name().to_str()?.strip_suffix(".md")?.to_owned()));
    let mut pages: Vec<_> = names.map(|name| format!("docs/{name}.md")).collect();
    pages.sort();
    [vec!["README.md".to_owned()], pages].concat()
}

/// The rows of the table in a text, cell by cell, without its head.
pub(crate) fn rows(text: &str) -> Vec<Vec<&str>> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.skip(2).map(|row| row.split(" | ").collect()).collect()
}

/// The contents of all fenced blocks in this language.
pub(crate) fn blocks(document: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let rests = document.split(&fence).skip(1);
    rests.map(|rest| rest.split("\n```").next().unwrap_or_default().to_owned()).collect()
}

/// The part of a document from a line that begins with `heading` to the next heading of that level or above.
pub(crate) fn section<'a>(document: &'a str, heading: &str) -> &'a str {
    let start = document.find(&format!("\n{heading}")).unwrap_or_else(|| panic!("no heading {heading:?}")) + 1;
    let level = heading.split(' ').next().unwrap().len();
    let rest = &document[start..];
    let ends = (1..=level).filter_map(|level| rest[1..].find(&format!("\n{} ", "#".repeat(level))));
    ends.min().map_or(rest, |end| &rest[..=end])
}

/// What is in backquotes in the first column of the tables of a text.
pub(crate) fn first_column(text: &str) -> BTreeSet<String> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split('`').next()).map(str::to_owned).collect()
}

/// Every `--flag` in a text.
pub(crate) fn flags(text: &str) -> BTreeSet<String> {
    let starts =
        text.match_indices("--").filter(|(at, _)| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '-'));
    let words = starts.map(|(at, dashes)| {
        let rest = &text[at + dashes.len()..];
        rest.split(|c: char| !(c.is_ascii_lowercase() || c == '-')).next().unwrap_or_default().to_owned()
    });
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase())).collect()
}

#[test]
fn finds_blocks_sections_columns_and_flags() {
    let document = "# A\n\n## B\n| `x` | `y` |\n```sh\na\nb\n```\n### C\n## D\n--e f--g `--h-i`, | --- |\n";
    assert_eq!(blocks(document, "sh"), ["a\nb"]);
    assert!(section(document, "## B").ends_with("### C"));
    assert_eq!(first_column(document), BTreeSet::from(["x".to_owned()]));
    assert_eq!(rows("a\n| x | y |\n| --- | --- |\n| `b` | c |\n"), [["`b`", "c"]]);
    assert_eq!(flags(document), BTreeSet::from(["e".to_owned(), "h-i".to_owned()]));
}
