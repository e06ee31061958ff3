//! Text and URLs as they stand in Markdown, so that readers show them as they are.

/// Text in a line; `after` is what is before it in the line.
pub(super) fn text(text: &str, after: Option<char>, out: &mut String) {
    let mut before = after;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let next = rest.peek().copied();
        if is_special(character, before, next) {
            out.push('\\');
        }
        out.push(character);
        before = Some(character);
    }
}

/// Whether a character would be read as a sign.
fn is_special(character: char, before: Option<char>, next: Option<char>) -> bool {
    let is_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    match character {
        '\\' | '`' | '*' | '[' | ']' | '<' | '~' => true,
        '_' => !(is_word(before) && is_word(next)),
        '&' => next.is_some_and(|next| next.is_ascii_alphanumeric() || next == '#'),
        _ => false,
    }
}

/// The lines of a paragraph, so that none begins as another block does.
pub(super) fn lines(paragraph: &str) -> String {
    paragraph.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn line(line: &str) -> String {
    let line = line.trim_start_matches([' ', '\t']);
    let Some(at) = first_sign(line) else { return line.to_owned() };
    format!("{}\\{}", &line[..at], &line[at..])
}

/// Where the sign is that would make a line the start of a block.
fn first_sign(line: &str) -> Option<usize> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        let is_item = digits < 10 && line[digits..].starts_with(['.', ')']);
        return (is_item && ends_sign(&line[digits + 1..])).then_some(digits);
    }
    let rest = line.get(1..).unwrap_or_default();
    match line.as_bytes().first()? {
        b'#' | b'>' | b'=' | b'|' => Some(0),
        b'-' | b'+' | b':' if !rest.starts_with(char::is_alphanumeric) => Some(0),
        _ => None,
    }
}

fn ends_sign(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\t', '\n'])
}

/// The text of a heading: signs at its end would be left out.
pub(super) fn heading(text: &str) -> String {
    let start = text.trim_end_matches('#').len();
    let (text, signs) = text.split_at(start);
    format!("{text}{}", signs.replace('#', "\\#"))
}

/// Text in a cell of a table.
pub(super) fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// Code within a line.
pub(super) fn code(text: &str, out: &mut String) {
    let fence = "`".repeat(longest_run(text) + 1);
    if out.ends_with('`') && !out.ends_with("\\`") {
        out.push(' ');
    }
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    out.push_str(&format!("{fence}{pad}{text}{pad}{fence}"));
}

/// The fence around code: longer than any in it.
pub(super) fn fence(text: &str) -> String {
    "`".repeat(3.max(longest_run(text) + 1))
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// The target of a link or image: without what would end it.
pub(super) fn target(target: &str) -> String {
    let mut out = String::with_capacity(target.len());
    let is_address = target.contains("://[");
    for character in target.chars() {
        match character {
            '[' | ']' if is_address => out.extend(['\\', character]),
            '(' | ')' | '<' | '>' | '[' | ']' | '\\' | '`' | '|' | '"' | '*' | ' ' => {
                out.push_str(&format!("%{:02X}", u32::from(character)));
            }
            '&' => out.push_str("&amp;"),
            _ if character.is_whitespace() || character.is_control() => {}
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(plain: &str) -> String {
        let mut out = String::new();
        text(plain, None, &mut out);
        lines(&out)
    }

    #[test]
    fn signs_are_escaped() {
        assert_eq!(
            escaped("a_b _c_ *d* [e](f) <g> &amp; R&D & `"),
            "a_b \\_c\\_ \\*d\\* \\[e\\](f) \\<g> \\&amp; R\\&D & \\`"
        );
        for start in ["# a", "> a", "- a", "+ a", "=== ", "--- | ---", "| a", ":-- | --", "- ", "-"] {
            assert_eq!(escaped(start), format!("\\{start}"), "{start}");
        }
        assert_eq!(escaped("1. a"), "1\\. a");
        assert_eq!(escaped("12) a\n    b"), "12\\) a\nb");
        assert_eq!(escaped("1.5 a, -x"), "1.5 a, -x");
        assert_eq!(heading("C#"), "C\\#");
        assert_eq!(cell("a|b"), "a\\|b");
    }

    #[test]
    fn fences_are_longer_than_what_they_hold() {
        assert_eq!(fence("a ```` b"), "`````");
        let mut out = String::new();
        code("`a``", &mut out);
        assert_eq!(out, "``` `a`` ```");
    }

    #[test]
    fn targets_end_where_they_should() {
        assert_eq!(target("http://h/a(b) <c>\"]\n"), "http://h/a%28b%29%20%3Cc%3E%22%5D");
        assert_eq!(target("http://[::1]/&copy;"), "http://\\[::1\\]/&amp;copy;");
    }
}
