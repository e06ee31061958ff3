//! How a URL is asked for of which only the answer counts, or what is inside of it.
//!
//! Invariant: no body is read but that of a page or a style sheet, where what is inside is asked for.
//!
//! Does not know: what becomes of the URL.

use super::{
    preparing::apart_if,
    reading,
    report::{BodyRecord, Content, KeptResponse},
    visit::{Fetched, Visited, Visitor, redirect_target},
};
use crate::{
    extract::{self, LinkLimits},
    fetch::{FetchRequest, FetchResponse, Fetcher, Head, HeadRule, Method, ReadBody},
    media_type::is_style_sheet,
    store::CheckedContent,
    url::WebUrl,
};

/// Only names are wanted.
const NO_LINKS: LinkLimits = LinkLimits { links: 0, bytes: 0 };

impl<F: Fetcher> Visitor<F> {
    /// Asks for a URL, with HEAD or with GET.
    pub(super) async fn head(&self, get: FetchRequest, method: Method) -> Visited {
        let url = get.url.clone();
        let rule = (method == Method::Get).then(|| HeadRule::new(|_| ReadBody::Nothing));
        let Fetched { requests, result } = self.fetch(FetchRequest { method, rule, ..get }).await;
        let result = result.map(|response| self.found(&url, &response, BodyRecord::default()));
        Visited { requests, result, failed: None }
    }

    /// Asks for a URL, and reads what is inside: the names on a page, or what a style sheet loads.
    pub(super) async fn content(&self, get: FetchRequest) -> Visited {
        let url = get.url.clone();
        let Fetched { requests, result } =
            self.fetch(FetchRequest { rule: Some(HeadRule::new(if_it_can_be_read)), ..get }).await;
        let response = match result {
            Ok(response) => response,
            Err(error) => return Visited { requests, result: Err(error), failed: None },
        };
        let (is_big, limits) = (reading::is_big(&response), self.links);
        let read = move || {
            let inside = inside(&response, limits);
            (response, inside)
        };
        let (response, inside) = apart_if(is_big, read).await;
        let result = Ok(self.found(&url, &response, BodyRecord { inside, ..BodyRecord::default() }));
        Visited { requests, result, failed: None }
    }

    fn found(&self, url: &WebUrl, response: &FetchResponse, page: BodyRecord) -> KeptResponse {
        let other = |leads_to_itself| Content::Other(Box::new(BodyRecord { leads_to_itself, ..BodyRecord::default() }));
        let content = match redirect_target(url, response) {
            Some(target) if self.is_same(&target, url) => other(true),
            Some(target) if target.as_str().len() <= self.max_url_length => Content::Redirect(target),
            None if (200..300).contains(&response.status) => Content::Page(Box::new(page)),
            _ => other(false),
        };
        self.kept(response, content)
    }
}

/// What is inside of an answer.
fn inside(response: &FetchResponse, limits: LinkLimits) -> CheckedContent {
    if response.status / 100 != 2 {
        return CheckedContent::Nothing;
    }
    if is_style_sheet(response.content_type()) {
        return CheckedContent::Sheet(extract::sheet_parts(&response.body, &response.final_url, limits));
    }
    if !extract::is_html(response.content_type(), &response.body) {
        return CheckedContent::Nothing;
    }
    let anchors = reading::anchors(&response.final_url, response, NO_LINKS);
    anchors.names.map_or(CheckedContent::Nothing, CheckedContent::Page)
}

/// The body of a page or a style sheet is read, and no other.
fn if_it_can_be_read(head: Head<'_>) -> ReadBody {
    let can_be = |content_type: &str| is_style_sheet(Some(content_type)) || extract::is_html(Some(content_type), b"");
    let is_read = (200..300).contains(&head.status) && head.content_type().is_none_or(can_be);
    if is_read { ReadBody::ALL } else { ReadBody::Nothing }
}
