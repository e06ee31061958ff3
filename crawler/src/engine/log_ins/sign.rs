//! [`Sign`]: what an answer looks like, as far as log-ins go; and which URLs are those of log-ins by their words.

use serde::{Deserialize, Serialize};

use crate::{
    engine::visit::redirect_target,
    extract::{is_html, page_look},
    fetch::FetchResponse,
    url::WebUrl,
};

/// Words of URLs that log in, in languages that name them so. Each is one word or two in a row.
const LOG_IN: [&str; 14] = [
    "login",
    "log in",
    "logon",
    "log on",
    "signin",
    "sign in",
    "signon",
    "sign on",
    "sso",
    "auth",
    "authenticate",
    "anmelden",
    "connexion",
    "saml",
];

/// The same of those that log out.
const LOG_OUT: [&str; 9] =
    ["logout", "log out", "logoff", "log off", "signout", "sign out", "signoff", "sign off", "abmelden"];

/// Bytes that are read of a page to find out what it looks like: so many need no room beside others.
pub(super) const LOOKED_AT: usize = 256 * 1024;

/// What an answer looks like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Sign {
    /// A status of neither success nor redirect.
    Status(u16),
    /// A redirect to this URL, without its query.
    Redirect(Box<str>),
    /// A page.
    Page {
        /// Its title.
        title: Box<str>,
        /// Whether it has a field for a password.
        asks_password: bool,
    },
    /// Content of another type.
    Other,
}

impl Sign {
    /// What the answer for a URL looks like.
    pub(super) fn of(url: &WebUrl, response: &FetchResponse) -> Self {
        if let Some(target) = redirect_target(url, response) {
            return Self::Redirect(without_query(&target).into());
        }
        match response.status {
            200..300 if is_html(response.content_type(), &response.body) => {
                // Of pages that are compared, as much is looked at of each.
                let body = &response.body[..response.body.len().min(LOOKED_AT)];
                let look = page_look(body, response.content_type(), url);
                Self::Page { title: look.title.into(), asks_password: look.asks_password }
            }
            200..300 => Self::Other,
            status => Self::Status(status),
        }
    }

    /// Whether it is a page.
    pub(super) fn is_page(&self) -> bool {
        matches!(self, Self::Page { .. })
    }

    /// Whether the answer for a URL is one that asks for a log-in, by what most sites do. `forms` says whether a field for a password
    /// does.
    pub(super) fn asks(&self, url: &WebUrl, forms: bool) -> bool {
        if is_log_in(url.path()) {
            return false;
        }
        match self {
            Self::Status(status) => *status == 401,
            Self::Redirect(to) => WebUrl::parse(to).is_ok_and(|to| is_log_in(to.path())),
            Self::Page { asks_password, .. } => forms && *asks_password,
            Self::Other => false,
        }
    }

    /// Whether an answer without log-in that looks so shows that the one with it, which looked otherwise, needs it.
    pub(super) fn differs_from(&self, with_log_in: &Self) -> bool {
        match (self, with_log_in) {
            // Trouble that passes shows nothing.
            (Self::Status(408 | 425 | 429 | 500..) | Self::Other, _) => false,
            (without, with) => without != with,
        }
    }

    /// Whether it says by itself that nobody is logged in: a redirect, a status, a field for a password.
    pub(super) fn is_plain_refusal(&self) -> bool {
        !matches!(self, Self::Page { asks_password: false, .. } | Self::Other)
    }

    /// Whether it is a page whose title says that it is for logging in.
    pub(super) fn is_titled_log_in(&self) -> bool {
        matches!(self, Self::Page { title, .. } if is_log_in(title))
    }
}

/// Whether a request for a URL ends the session, by its words.
pub(super) fn logs_out(url: &WebUrl) -> bool {
    has_word(url.path_and_query(), &LOG_OUT)
}

fn is_log_in(text: &str) -> bool {
    has_word(text, &LOG_IN)
}

fn has_word(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    let parts: Vec<_> = text.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    let two = parts.windows(2).map(|pair| pair.join(" "));
    parts.iter().any(|part| words.contains(part)) || two.into_iter().any(|pair| words.contains(&&*pair))
}

fn without_query(url: &WebUrl) -> &str {
    url.as_str().split(['?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> WebUrl {
        WebUrl::parse(text).unwrap()
    }

    #[test]
    fn urls_say_what_they_do() {
        for out in ["http://h/logout", "http://h/user/log-out.php", "http://h/?do=logout&x=1", "http://h/Sign_Out/"] {
            assert!(logs_out(&url(out)) && !is_log_in(url(out).path_and_query()), "{out}");
        }
        for text in ["/login", "/accounts/log-in/", "/wp-login.php", "/auth/realms/x", "Sign in \u{b7} Shop"] {
            assert!(is_log_in(text), "{text}");
        }
        for text in ["/", "/blog/in/depth", "/logistics/outside", "/catalog/out", "/authors/1", "/design/in"] {
            assert!(!is_log_in(text) && !has_word(text, &LOG_OUT), "{text}");
        }
    }

    #[test]
    fn answers_ask_for_a_log_in_in_three_ways() {
        let page = url("http://h/p");
        let with = |status, location: Option<&str>, body: &str| {
            let mut response = FetchResponse::new(page.clone(), status);
            response.headers = vec![("content-type".into(), b"text/html".as_slice().into())];
            response.headers.extend(location.map(|to| ("location".into(), to.as_bytes().into())));
            response.body = body.as_bytes().to_vec();
            Sign::of(&page, &response)
        };
        let asking =
            [with(401, None, ""), with(302, Some("/login?next=/p"), ""), with(200, None, "<input type=password>")];
        assert!(asking.iter().all(|sign| sign.asks(&page, true) && !sign.asks(&url("http://h/login"), true)));
        assert!(!asking[2].asks(&page, false));
        let others = [with(403, None, ""), with(302, Some("/q"), ""), with(200, None, "<title>Log in</title>")];
        assert!(!others.iter().any(|sign| sign.asks(&page, true)));
        assert_eq!(asking[1], with(301, Some("http://h/login?next=/q"), ""), "the same page, whatever it leads to");
        assert!(
            others[2].is_titled_log_in()
                && asking[0].differs_from(&others[2])
                && !with(503, None, "").differs_from(&others[2])
        );
    }
}
