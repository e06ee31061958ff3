//! The address policy, where connections are made.

use super::server::plain;
use super::*;
use crate::fetch::address::{AddressPolicy, StartNames};

const LOCAL: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

/// A server, and a fetcher under a policy of these starts (`PORT` means the server's) and allowances.
async fn scene(starts: &[&str], allowed: &[&str]) -> (Server, HttpFetcher) {
    let server = Server::start(vec![vec![plain("200 OK", "", b"page")]]).await;
    let port = server.address().port().to_string();
    let starts: Vec<_> = starts.iter().map(|start| WebUrl::parse(&start.replace("PORT", &port)).unwrap()).collect();
    let allowed = allowed.iter().map(|text| text.replace("PORT", &port).parse().unwrap()).collect();
    let mut settings = settings();
    settings.addresses = AddressPolicy::new(&starts, allowed);
    settings.resolve = vec![format!("own.test:{port}:127.0.0.1").parse().unwrap()];
    let names = FixedNames(HashMap::from([
        ("inside.test", vec![LOCAL]),
        ("localhost", vec![LOCAL]),
        ("mapped.test", vec!["::ffff:127.0.0.1".parse().unwrap()]),
        ("mixed.test", vec!["169.254.169.254".parse().unwrap(), LOCAL]),
        ("nowhere.test", vec![]),
    ]));
    (server, fetcher(settings, names))
}

/// What comes of `http://host:port/`.
async fn outcome(fetcher: &HttpFetcher, host: &str, port: u16) -> String {
    let result = fetcher.fetch(request(&format!("http://{host}:{port}/"))).await;
    name(&result).to_owned()
}

#[tokio::test]
async fn nothing_private_is_connected_to_by_default() {
    let (server, fetcher) = scene(&["http://inside.test/"], &[]).await;
    let port = server.address().port();
    for host in [
        "127.0.0.1",
        "0x7f.1",
        "[::ffff:127.0.0.1]",
        "localhost",
        "inside.test",
        "mapped.test",
        "mixed.test",
        "own.test",
    ] {
        assert_eq!(outcome(&fetcher, host, port).await, "address", "{host}");
    }
    for host in ["unknown.test", "nowhere.test"] {
        assert_eq!(outcome(&fetcher, host, port).await, "no_name", "{host}");
    }
    assert_eq!(server.connections(), 0);
}

/// A name that is elsewhere at each look-up.
struct Rebound(std::sync::Mutex<Vec<IpAddr>>);

impl Resolver for Rebound {
    fn resolve(&self, _: &str) -> Resolving {
        let next = self.0.lock().unwrap().pop();
        Box::pin(std::future::ready(
            next.map(|address| HostAddresses::of(vec![address])).ok_or_else(|| Cause::new("no such name")),
        ))
    }
}

#[tokio::test]
async fn the_name_of_a_start_is_where_it_was_at_its_first_look_up() {
    let answer = || vec![plain("200 OK", "connection: close\r\n", b"page")];
    let server = Server::start(vec![answer(), answer()]).await;
    let port = server.address().port();
    let of = |names: Vec<IpAddr>| {
        let start_names = Arc::new(StartNames::new(["wiki", "public"]));
        assert!(!start_names.found("public", &[[9, 9, 9, 9].into()]));
        let settings = FetchSettings { addresses: AddressPolicy::default(), start_names, ..settings() };
        HttpFetcher::new(settings, Arc::new(Rebound(names.into_iter().rev().collect::<Vec<_>>().into()))).unwrap()
    };
    let metadata: IpAddr = [169, 254, 169, 254].into();
    let pinned = of(vec![LOCAL, metadata]);
    for _ in 0..2 {
        assert_eq!(outcome(&pinned, "wiki", port).await, "a response");
    }
    assert_eq!(outcome(&pinned, "127.0.0.1", port).await, "address", "no other name of it");
    for (name, why) in [("public", "it was public"), ("other", "it is no start")] {
        assert_eq!(outcome(&of(vec![LOCAL]), name, port).await, "address", "{why}");
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_start_opens_what_it_spells() {
    let (server, fetcher) = scene(&["http://127.0.0.1/"], &[]).await;
    let port = server.address().port();
    assert_eq!(outcome(&fetcher, "127.0.0.1", port).await, "a response");
    for host in ["localhost", "inside.test", "127.0.0.2", "own.test"] {
        assert_eq!(outcome(&fetcher, host, port).await, "address", "{host}");
    }
    let (server, fetcher) = scene(&["http://localhost/"], &[]).await;
    let port = server.address().port();
    assert_eq!(outcome(&fetcher, "localhost", port).await, "a response");
    assert_eq!(outcome(&fetcher, "127.0.0.1", port).await, "address");
    assert_eq!(outcome(&fetcher, "inside.test", port).await, "address");
}

#[tokio::test]
async fn an_allowance_opens_what_it_names() {
    let (server, fetcher) = scene(&[], &["127.0.0.0/8"]).await;
    let port = server.address().port();
    for host in ["127.0.0.1", "localhost", "inside.test", "mixed.test", "own.test"] {
        assert_eq!(outcome(&fetcher, host, port).await, "a response", "{host}");
    }
    let (server, fetcher) = scene(&[], &["inside.test:PORT", "own.test:1"]).await;
    let port = server.address().port();
    assert_eq!(outcome(&fetcher, "inside.test", port).await, "a response");
    for host in ["127.0.0.1", "localhost", "own.test"] {
        assert_eq!(outcome(&fetcher, host, port).await, "address", "{host}");
    }
}

#[tokio::test]
async fn an_override_answers_for_its_port_alone() {
    let (server, fetcher) = scene(&[], &["own.test"]).await;
    let port = server.address().port();
    assert_eq!(outcome(&fetcher, "own.test", port).await, "a response");
    assert_eq!(outcome(&fetcher, "own.test", port ^ 1).await, "no_name");
}

#[tokio::test]
async fn a_refusal_names_the_address() {
    let (_server, fetcher) = scene(&[], &[]).await;
    let error = fetcher.fetch(request("http://mixed.test/")).await.unwrap_err().error;
    assert!(matches!(error, FetchError::AddressRefused(address) if address.to_string() == "169.254.169.254"));
}

/// What comes of a request to `http://host:port/` that is pinned to these addresses.
async fn pinned(
    fetcher: &HttpFetcher,
    host: &str,
    port: u16,
    addresses: &[&str],
) -> Result<FetchResponse, FetchFailure> {
    let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
    fetcher.fetch(FetchRequest { addresses: Some(addresses), ..request(&format!("http://{host}:{port}/")) }).await
}

#[tokio::test]
async fn a_pinned_request_goes_to_its_addresses_alone() {
    let (server, fetcher) = scene(&[], &["127.0.0.1"]).await;
    let port = server.address().port();
    // No resolver knows the first name, another knows the second, the user said something of the third.
    for host in ["unknown.test", "mixed.test", "own.test", "127.0.0.1"] {
        let response = pinned(&fetcher, host, port, &["127.0.0.1"]).await.unwrap();
        assert_eq!((response.remote, response.timings.look_up), (Some(server.address()), None), "{host}");
    }
    let other = pinned(&fetcher, "inside.test", port, &["127.0.0.2"]).await;
    assert_eq!(name(&other), "address", "the policy admits one address, not this one");
    let first = pinned(&fetcher, "inside.test", port, &["127.0.0.2", "127.0.0.1"]).await;
    assert_eq!(first.unwrap().remote, Some(server.address()));
    assert_eq!(server.connections(), 5);
}

#[tokio::test]
async fn a_pinned_request_takes_no_connection_that_leads_elsewhere() {
    let script = std::iter::repeat_n([plain("200 OK", "", b"page"), Act::Next], 3).flatten().collect();
    let server = Server::start(vec![script]).await;
    let fetcher = fetcher(settings(), FixedNames(HashMap::from([("two.test", vec![LOCAL])])));
    let port = server.address().port();
    fetcher.fetch(request(&format!("http://two.test:{port}/"))).await.unwrap();
    for _ in 0..2 {
        pinned(&fetcher, "two.test", port, &["127.0.0.1"]).await.unwrap();
    }
    assert_eq!(server.connections(), 3, "each pinned one has its own");
    fetcher.fetch(request(&format!("http://two.test:{port}/"))).await.unwrap();
    assert_eq!(server.connections(), 3, "the others share theirs");
}

#[tokio::test]
async fn a_request_that_is_pinned_to_nothing_is_not_sent() {
    let (server, fetcher) = scene(&[], &["127.0.0.0/8"]).await;
    let port = server.address().port();
    for (host, addresses) in [("inside.test", [].as_slice()), ("127.0.0.1", &["127.0.0.2"]), ("127.0.0.1", &[])] {
        let failure = pinned(&fetcher, host, port, addresses).await.unwrap_err();
        assert_eq!((failure.error.name(), failure.requests), ("not_pinned", 0), "{host} {addresses:?}");
    }
    assert_eq!(server.connections(), 0);
}
