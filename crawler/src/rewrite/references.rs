//! [`RewrittenReferences`]: what becomes of a reference.

use url::Url;

/// So many bytes of absolute URLs there may be for each byte of a text, and so many for any text: a long base makes every reference long.
/// References beyond that stay as they are.
const MOST_TIMES: usize = 32;
const MOST_OF_ANY: usize = 4 << 20;

/// A longer reference stays as it is. Browsers take no longer ones either.
const LONGEST: usize = 2 << 20;

/// What a reference is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReferenceUse {
    /// Another document is shown within the page.
    Frame,
    /// Anything else.
    Other,
}

/// What leads to nothing.
pub(crate) const NOWHERE: &str = "about:invalid";

/// Reads references, and asks where they lead.
pub(super) struct RewrittenReferences<'t> {
    base: Url,
    target: &'t mut dyn FnMut(&Url, ReferenceUse) -> Option<String>,
    /// How many more bytes absolute URLs may have.
    left: usize,
}

impl<'t> RewrittenReferences<'t> {
    /// Those of a text that is at `page`.
    pub(super) fn of(text: &str, page: &Url, target: &'t mut dyn FnMut(&Url, ReferenceUse) -> Option<String>) -> Self {
        Self { base: page.clone(), target, left: text.len().saturating_mul(MOST_TIMES).saturating_add(MOST_OF_ANY) }
    }

    /// What is written instead of a reference; `None` if it stays.
    pub(super) fn target(&mut self, written: &str) -> Option<String> {
        self.target_of(written, ReferenceUse::Other)
    }

    /// The same of a reference for some use.
    pub(super) fn target_of(&mut self, written: &str, used_for: ReferenceUse) -> Option<String> {
        let written = written.trim_matches(|letter| letter <= ' ');
        if written.is_empty() || written.starts_with('#') {
            return None;
        }
        let url = self.joined(written)?;
        match url.scheme() {
            "http" | "https" => (self.target)(&url, used_for),
            // A page of the web leads to no file of the reader.
            "file" | "filesystem" => Some(NOWHERE.to_owned()),
            _ => None,
        }
    }

    /// Does something with another base, which is written relative to this one. A browser ignores what is no base.
    pub(super) fn with_base<T>(&mut self, written: Option<&str>, act: impl FnOnce(&mut Self) -> T) -> T {
        let base = written.and_then(|written| self.joined(written));
        let Some(base) = base.filter(|base| !matches!(base.scheme(), "data" | "javascript")) else { return act(self) };
        let outer = std::mem::replace(&mut self.base, base);
        let done = act(self);
        self.base = outer;
        done
    }

    fn joined(&mut self, written: &str) -> Option<Url> {
        if written.len() > LONGEST {
            return None;
        }
        self.left = self.left.checked_sub(self.base.as_str().len() + written.len())?;
        self.base.join(written).ok()
    }
}
