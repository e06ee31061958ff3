//! [`tell`]: asks for a URL that is no page of the crawl, so that whoever listens there hears of it.

use std::time::Duration;

use reqwest::{Client, StatusCode};
use thiserror::Error;

use super::client::system_roots;
use super::settings::SetupError;
use super::trust;
use crate::url::WebUrl;

/// Longest time for a request with its answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Pauses after requests that failed: there is one request more.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];

/// Why nobody heard of it. The URL is not in it.
#[derive(Debug, Error)]
pub enum UntoldError {
    /// There is no client.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// No answer came.
    #[error("no answer: {}", cause(.0))]
    NoAnswer(reqwest::Error),
    /// It is not 2xx.
    #[error("the answer is {0}")]
    Status(StatusCode),
}

/// Asks for a URL until an answer is 2xx; tries three times. Redirects are followed, and the proxies of the environment used.
///
/// # Errors
/// Why the last request failed.
pub async fn tell(url: &WebUrl, agent: &str) -> Result<(), UntoldError> {
    let tls = trust::config(system_roots(), &[])?;
    let client = Client::builder().tls_backend_preconfigured(tls).timeout(PATIENCE).user_agent(agent);
    let client = client.referer(false).pool_max_idle_per_host(0).build().map_err(SetupError::from)?;
    let mut pauses = PAUSES.into_iter();
    loop {
        let error = match client.get(url.as_str()).send().await {
            Ok(answer) if answer.status().is_success() => return Ok(()),
            Ok(answer) => UntoldError::Status(answer.status()),
            Err(error) => UntoldError::NoAnswer(error.without_url()),
        };
        let Some(pause) = pauses.next() else { return Err(error) };
        tokio::time::sleep(pause).await;
    }
}

/// The last of its causes, which says the most.
fn cause(error: &dyn std::error::Error) -> String {
    let last = std::iter::successors(Some(error), |error| error.source()).last();
    last.unwrap_or(error).to_string()
}
