//! How a URL is asked for of which only the answer counts, or what the elements of its page are named.
//!
//! Invariant: no body is read but that of a page of which the names are asked for.
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

    /// Asks for a URL, and reads what the elements of its page are named.
    pub(super) async fn names(&self, get: FetchRequest) -> Visited {
        let url = get.url.clone();
        let Fetched { requests, result } =
            self.fetch(FetchRequest { rule: Some(HeadRule::new(if_it_is_a_page)), ..get }).await;
        let response = match result {
            Ok(response) => response,
            Err(error) => return Visited { requests, result: Err(error), failed: None },
        };
        let is_page = response.status / 100 == 2 && extract::is_html(response.content_type(), &response.body);
        let is_big = reading::is_big(&response);
        let read = move || {
            let anchors = is_page.then(|| reading::anchors(&response.final_url, &response, NO_LINKS));
            (response, anchors.and_then(|anchors| anchors.names))
        };
        let (response, names) = apart_if(is_big, read).await;
        let result = Ok(self.found(&url, &response, BodyRecord { names, ..BodyRecord::default() }));
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

/// The body of a page is read, and no other.
fn if_it_is_a_page(head: Head<'_>) -> ReadBody {
    let is_html = head.content_type().is_none_or(|content_type| extract::is_html(Some(content_type), b""));
    if (200..300).contains(&head.status) && is_html { ReadBody::ALL } else { ReadBody::Nothing }
}
