//! How a URL is asked for of which only the answer counts.
//!
//! Invariant: no body is read.
//!
//! Does not know: what becomes of the URL.

use super::{
    report::{BodyRecord, Content},
    visit::{Fetched, Visited, Visitor, redirect_target},
};
use crate::fetch::{FetchRequest, Fetcher, HeadRule, Method, ReadBody};

impl<F: Fetcher> Visitor<F> {
    /// Asks for a URL, with HEAD or with GET.
    pub(super) async fn head(&self, get: FetchRequest, method: Method) -> Visited {
        let url = get.url.clone();
        let rule = (method == Method::Get).then(|| HeadRule::new(|_| ReadBody::Nothing));
        let Fetched { requests, result } = self.fetch(FetchRequest { method, rule, ..get }).await;
        let result = result.map(|response| {
            let other =
                |leads_to_itself| Content::Other(Box::new(BodyRecord { leads_to_itself, ..BodyRecord::default() }));
            let content = match redirect_target(&url, &response) {
                Some(target) if self.is_same(&target, &url) => other(true),
                Some(target) if target.as_str().len() <= self.max_url_length => Content::Redirect(target),
                None if (200..300).contains(&response.status) => Content::Page(Box::default()),
                _ => other(false),
            };
            self.kept(&response, content)
        });
        Visited { requests, result, failed: None }
    }
}
