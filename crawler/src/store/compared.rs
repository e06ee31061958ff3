//! [`ComparedPage`]: what is compared of a page, between two crawls.

/// A page as it is now, or as it was when it answered last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedPage {
    /// Its URL.
    pub url: String,
    /// Where it redirects to; `None` of a page.
    pub redirect: Option<String>,
    /// SHA-256 of the decoded body.
    pub digest: Option<[u8; 32]>,
    /// Its title.
    pub title: Option<String>,
    /// SHA-256 of what it says, if that is kept.
    pub text: Option<[u8; 32]>,
}
