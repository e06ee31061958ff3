//! One file with a line for each page.

use std::{fs::File, io::BufWriter};

use data_encoding::HEXLOWER;

use super::{
    chrome::Chrome,
    content::PageContent,
    request::{Export, ExportError, ExportFormat, Exported, unwritable},
};
use crate::{
    observe::figures,
    report::{self, Column, Format, Value},
    url::WebUrl,
};

const COLUMNS: [Column; 11] = [
    Column::url("url"),
    Column::plain("title"),
    Column::plain("description"),
    Column::plain("language"),
    Column::plain("content_type"),
    Column::plain("sequence"),
    Column::plain("fetched_at"),
    Column::plain("change"),
    Column::plain("digest"),
    Column::plain("text"),
    Column::plain("markdown"),
];

/// Writes it.
pub(super) fn write(export: &Export<'_>) -> Result<Exported, ExportError> {
    let chrome = Chrome::learn(export)?;
    let new = export.out.with_added_extension("new");
    let out = BufWriter::new(File::create(&new).map_err(unwritable(&new))?);
    let format = if export.format == ExportFormat::Csv { Format::Csv } else { Format::Jsonl };
    let mut writer = report::writer(format, out, None);
    writer.begin(&COLUMNS).map_err(unwritable(&new))?;
    let mut exported = Exported::default();
    export.records.current_pages(export.dir, export.since, |page, bodies| {
        if export.matching.as_ref().is_some_and(|matching| !matching.is_match(&page.url)) {
            return Ok(true);
        }
        let Some(url) = WebUrl::parse(&page.url).ok() else { return Ok(true) };
        let Some(content) = PageContent::of(page, bodies)? else {
            exported.without_body += u64::from(page.is_html);
            return Ok(true);
        };
        let document = content.document(&url, chrome.of(&page.url));
        let digest = page.digest.map(|digest| format!("sha256:{}", HEXLOWER.encode(&digest)));
        let row: [Value<'_>; COLUMNS.len()] = [
            page.url.as_str().into(),
            document.title.as_deref().or(page.title.as_deref()).into(),
            document.description.as_deref().into(),
            document.language.as_deref().into(),
            page.content_type.as_deref().into(),
            page.sequence.into(),
            figures::rfc3339(page.at).into(),
            page.change.as_deref().into(),
            digest.into(),
            document.text().into(),
            document.markdown(&|url| url.as_str().to_owned()).into(),
        ];
        exported.pages += 1;
        writer.row(&row).map_err(unwritable(&new))?;
        Ok::<_, ExportError>(true)
    })?;
    writer.end().map_err(unwritable(&new))?;
    drop(writer);
    std::fs::rename(&new, &export.out).map_err(unwritable(&export.out))?;
    Ok(exported)
}
