//! One file with a line for each page.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use data_encoding::HEXLOWER;
use serde_json::{Value, json};

use super::{
    chrome::Chrome,
    content::harmless,
    place,
    request::{Export, ExportError, ExportFormat, Exported, unwritable},
    shown,
};
use crate::{
    observe::{escape, figures},
    url::WebUrl,
};

/// Writes it.
pub(super) fn write(export: &Export<'_>) -> Result<Exported, ExportError> {
    place::whole_file(export, |new| write_new(export, new))
}

fn write_new(export: &Export<'_>, new: &Path) -> Result<Exported, ExportError> {
    let chrome = Chrome::learn(export)?;
    let mut out = BufWriter::new(File::create(new).map_err(unwritable(new))?);
    let is_table = export.format == ExportFormat::Csv;
    let mut exported = Exported::default();
    if is_table {
        let names: Vec<_> = columns(&json!(null), ["", ""]).iter().map(|(name, _)| *name).collect();
        writeln!(out, "{}", names.join(",")).map_err(unwritable(new))?;
    }
    export.records.current_pages(export.dir, export.since, |page, bodies| {
        let Some(url) = WebUrl::parse(&page.url).ok().filter(|_| export.wants(&page.url)) else { return Ok(true) };
        let Some(document) = shown::read(export, (page, bodies), &url, &chrome)? else {
            exported.without_body += u64::from(page.is_html);
            return Ok(true);
        };
        let known = json!({
            "url": page.url,
            "title": document.title.as_deref().or(page.title.as_deref()),
            "description": document.description,
            "language": document.language,
            "content_type": page.content_type,
            "sequence": page.sequence,
            "fetched_at": figures::rfc3339(page.at),
            "change": page.change,
            "digest": page.digest.map(|digest| format!("sha256:{}", HEXLOWER.encode(&digest))),
        });
        let row = columns(&known, [&document.text(), &document.markdown(&|url| url.as_str().to_owned())]);
        exported.pages += 1;
        writeln!(out, "{}", if is_table { table_line(&row) } else { json_line(row) }).map_err(unwritable(new))?;
        Ok::<_, ExportError>(true)
    })?;
    out.flush().map_err(unwritable(new))?;
    Ok(exported)
}

/// The columns of a page: what is known of it, its text and its Markdown.
fn columns(known: &Value, [text, markdown]: [&str; 2]) -> Vec<(&'static str, Value)> {
    let names =
        ["url", "title", "description", "language", "content_type", "sequence", "fetched_at", "change", "digest"];
    let known = names.into_iter().map(|name| (name, known[name].clone()));
    known.chain([("text", text.into()), ("markdown", markdown.into())]).collect()
}

fn json_line(row: Vec<(&'static str, Value)>) -> String {
    escape::json(&Value::from_iter(row))
}

/// A row of RFC 4180: the line breaks of a text are in its cell. A cell that a spreadsheet would take for a formula begins with `'`.
fn table_line(row: &[(&'static str, Value)]) -> String {
    let cell = |(_, value): &(&str, Value)| match value {
        Value::Null => String::new(),
        Value::String(text) => {
            let mark = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
            format!("\"{mark}{}\"", harmless(text).replace('"', "\"\""))
        }
        other => other.to_string(),
    };
    row.iter().map(cell).collect::<Vec<_>>().join(",")
}
