//! What of a page is exported.

use super::{
    chrome::Chrome,
    content::{PageContent, decoded_body},
    request::{Export, ExportError},
};
use crate::{
    markdown::{MainContent, Repeated},
    session::directory::{ArchivedBodies, CurrentPage},
    url::WebUrl,
};

/// What a page shows without the blocks that recur: the Markdown that the site has of it, if that is archived, or what its body shows.
pub(super) fn read(
    export: &Export<'_>,
    (page, bodies): (&CurrentPage, &ArchivedBodies<'_>),
    url: &WebUrl,
    chrome: &Chrome,
) -> Result<Option<MainContent>, ExportError> {
    let Some(content) = PageContent::of(page, bodies)? else { return Ok(None) };
    let mut document = content.document(url, chrome.of(&page.url));
    let own = document.own_markdown.as_ref().and_then(|own| WebUrl::parse(own.as_str()).ok());
    let own = own.map(|own| export.records.archived_now(export.dir, &own).map(|copy| (own, copy)));
    if let Some((own, Some(copy))) = own.transpose()?
        && copy.is_page
        && let Ok(body) = decoded_body(&copy.body, copy.coding.as_deref())
        && let content @ PageContent::Markdown(_) =
            PageContent::read(&body, (false, copy.content_type.as_deref()), &own)
    {
        let own = content.document(&own, &Repeated::default());
        if !own.blocks.is_empty() {
            document.blocks = own.blocks;
        }
    }
    Ok(Some(document))
}
