//! Small pieces of HTML. Whatever they are given is text.

use std::fmt::Write;

use crate::observe::escape;

/// A text as HTML has it. What would mislead a reader is shown as an escape.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in escape::text(text).chars() {
        match c {
            '&' => html += "&amp;",
            '<' => html += "&lt;",
            '>' => html += "&gt;",
            '"' => html += "&quot;",
            '\'' => html += "&#39;",
            c => html.push(c),
        }
    }
    html
}

/// A link to a page of a crawl, of which that site hears nothing.
pub(crate) fn link(url: &str) -> String {
    let url = escaped(url);
    format!("<a href=\"{url}\" rel=\"noreferrer noopener nofollow\">{url}</a>")
}

/// A time: to the minute for people.
pub(crate) fn time(rfc3339: &str) -> String {
    let shown = rfc3339.get(..16).map_or(rfc3339, |minute| minute).replace('T', " ");
    format!("<time datetime=\"{}\">{} UTC</time>", escaped(rfc3339), escaped(&shown))
}

/// Terms, each with what it is.
pub(crate) fn terms(rows: &[(&str, String)]) -> String {
    let mut html = "<dl>".to_owned();
    for (term, what) in rows {
        let _ = write!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escaped(term), escaped(what));
    }
    html + "</dl>"
}

/// A table of cells that are HTML already.
pub(crate) fn table<const N: usize>(columns: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut html = "<table><thead><tr>".to_owned();
    for column in columns {
        let _ = write!(html, "<th scope=\"col\">{}</th>", escaped(column));
    }
    html += "</tr></thead><tbody>";
    for row in rows {
        html += "<tr>";
        for (column, cell) in columns.iter().zip(row) {
            let _ = write!(html, "<td data-column=\"{}\">{cell}</td>", escaped(column));
        }
        html += "</tr>";
    }
    html + "</tbody></table>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_the_network_is_text() {
        let hostile = "http://h/\"><script>alert('1')</script>&\u{202e}\n";
        for html in [escaped(hostile), terms(&[(hostile, hostile.to_owned())])] {
            assert!(!html.contains("<script") && !html.contains(['\u{202e}', '\n']), "{html}");
        }
        let html = link(hostile);
        assert_eq!(html.matches(['<', '"']).count(), 6, "{html}");
        assert_eq!(time("2026-11-27T16:05:31Z").matches("2026-11-27 16:05 UTC").count(), 1);
    }
}
