//! The fetcher against real servers on loopback that follow their scripts, however wrong.

mod addresses;
mod as_sent;
mod asked;
mod bodies;
mod counts;
mod limits;
mod requests;
mod secure;
mod server;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use self::server::{Act, Server};
use super::{FetchSettings, HttpFetcher};
use crate::fetch::resolve::{HostAddresses, Resolver, Resolving};
use crate::fetch::{Cause, FetchError, FetchFailure, FetchRequest, FetchResponse, Fetcher};
use crate::url::WebUrl;

/// Names that exist only in a test; any other has no address, `hanging.test` gets no answer.
#[derive(Default)]
struct FixedNames(HashMap<&'static str, Vec<IpAddr>>);

impl Resolver for FixedNames {
    fn resolve(&self, name: &str) -> Resolving {
        if name == "hanging.test" {
            return Box::pin(std::future::pending());
        }
        let found = self.0.get(name).cloned().map(HostAddresses::of).ok_or_else(|| Cause::new("no such name"));
        Box::pin(std::future::ready(found))
    }
}

/// Settings that let a test reach its own servers and never wait long.
fn settings() -> FetchSettings {
    let mut settings = FetchSettings::new("testbot/1.0 (+http://127.0.0.1/bot)");
    settings.addresses =
        super::super::address::AddressPolicy::new([] as [WebUrl; 0], vec!["127.0.0.1".parse().unwrap()]);
    settings.connect_timeout = Duration::from_secs(20);
    settings.first_byte_timeout = Duration::from_secs(20);
    settings.total_timeout = Duration::from_secs(20);
    settings
}

fn fetcher(settings: FetchSettings, names: FixedNames) -> HttpFetcher {
    HttpFetcher::new(settings, Arc::new(names)).unwrap()
}

fn request(url: &str) -> FetchRequest {
    FetchRequest::get(WebUrl::parse(url).unwrap(), 100_000)
}

/// One fetch of one answer with the settings of [`settings`].
async fn fetch(acts: Vec<Act>) -> Result<FetchResponse, FetchFailure> {
    let server = Server::start(vec![acts]).await;
    fetcher(settings(), FixedNames::default()).fetch(request(&server.url("/"))).await
}

/// The name of the error, or of what went well instead.
fn name(result: &Result<FetchResponse, FetchFailure>) -> &str {
    match result {
        Ok(_) => "a response",
        Err(failure) => failure.error.name(),
    }
}
