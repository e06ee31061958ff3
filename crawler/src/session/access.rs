//! Which servers a crawl may ask, and with which credentials: the fetcher, made from settings and starts.
//!
//! Invariant: headers and a password that the user gave for a start go to that start's origin alone, and to nothing that a server or a
//! guess led to. An address of a start may be asked at any port.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{CommandFailure, Start, cookies::KeptCookies, directory::CrawlDirectory, open_files::OpenFiles};
use crate::{
    config::{Login, ProxyChoice, RawSettings, RawValue, SecretText, SecretValue, Settings},
    fetch::{
        address::{AddressPolicy, Allowance, StartNames, special_use},
        cookies::Cookies,
        dns::{DnsResolver, SystemResolver},
        http::{BadProxy, FetchSettings, HttpFetcher, ProxyRules, ProxyVariables, SetupError},
        resolve::{HostAddresses, NameService, ResolveOverride, Resolver, Resolving},
    },
    store::StoreError,
    url::{Credentials, Origin, WebUrl},
};

/// The layer of settings that the passwords in these starts make, without those `known`; none if there are none.
pub(crate) fn with_logins<'a>(
    starts: impl Iterator<Item = &'a Start>,
    known: &[Login],
) -> Result<Option<RawSettings>, CommandFailure> {
    let mut given: HashMap<Origin, Login> = HashMap::new();
    for start in starts {
        let (origin, Some(credentials)) = (start.url.origin(), start.credentials.clone()) else { continue };
        let login = Login { origin: origin.clone(), credentials };
        if given.insert(origin.clone(), login.clone()).is_some_and(|before| before != login) {
            let why = "has two passwords: give one password for all start URLs of an origin";
            return Err(CommandFailure::Usage(format!("{origin} {why}")));
        }
    }
    if given.is_empty() {
        return Ok(None);
    }
    let kept = known.iter().filter(|known| !given.contains_key(&known.origin));
    let texts = kept.chain(given.values()).map(Login::to_secret_text).collect();
    let mut raw = RawSettings::default();
    raw.fetch.credentials = Some(SecretValue::new(RawValue::List(texts)));
    Ok(Some(raw))
}

/// What `--auth` gives.
pub(crate) fn auth(given: Option<&SecretText>) -> Result<Option<Credentials>, CommandFailure> {
    let wrong = || CommandFailure::Usage("--auth: give a user name and a password as USER:PASS".to_owned());
    given.map(|text| Credentials::typed(text.reveal()).ok_or_else(wrong)).transpose()
}

/// What fetches where the caller brings nothing of its own, the innermost first. A decorator that sends nothing itself is named here,
/// and wrapped around it in [`fetcher`]; then follow the gate that crawls share, and what notices that a session has ended.
pub(crate) type Standard = Cookies<HttpFetcher>;

/// The fetcher: literal addresses and `localhost` among the user's own starts may be connected to, and those of `names`.
pub(crate) fn fetcher<'a>(
    settings: &Settings,
    files: OpenFiles,
    own: impl Iterator<Item = Cow<'a, WebUrl>> + Clone,
    names: StartNames,
    auth: Option<&Credentials>,
    cookies: Option<&KeptCookies>,
) -> Result<Standard, CommandFailure> {
    let limits = &settings.fetch;
    let origins = own.clone().map(|url| url.origin());
    let mut fetch = FetchSettings::new(limits.user_agent.as_str());
    fetch.headers = limits.headers.iter().map(|header| (header.name.clone(), header.value.clone())).collect();
    if !fetch.headers.is_empty() {
        fetch.headers_for = origins.clone().collect();
    }
    fetch.credentials = limits.credentials.iter().map(|of| (of.origin.clone(), of.credentials.clone())).collect();
    if let Some(credentials) = auth {
        for origin in origins {
            fetch.credentials.entry(origin).or_insert_with(|| credentials.clone());
        }
    }
    fetch.accept_language.clone_from(&limits.accept_language);
    fetch.proxy = proxy(&limits.proxy).map_err(SetupError::from)?;
    fetch.insecure_hosts.clone_from(&limits.insecure_hosts);
    fetch.connect_timeout = limits.connect_timeout;
    fetch.first_byte_timeout = limits.first_byte_timeout;
    fetch.total_timeout = limits.total_timeout;
    fetch.max_expansion = limits.max_expansion;
    fetch.min_rate = limits.min_rate;
    (fetch.kept_origins, fetch.kept_per_origin) = (files.kept_origins, files.kept_per_origin);
    fetch.addresses = AddressPolicy::new(own, allowances(&limits.allow_private)?);
    fetch.start_names = Arc::new(names);
    fetch.resolve = overrides(&limits.resolve)?;
    let http = HttpFetcher::new(fetch, resolver(limits.resolver)?)?;
    Ok(Cookies::new(http, cookies.map(KeptCookies::jar)))
}

/// What goes through a proxy.
fn proxy(choice: &ProxyChoice) -> Result<ProxyRules, BadProxy> {
    let variable =
        |names: [&str; 2]| names.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    match choice {
        ProxyChoice::None => Ok(ProxyRules::default()),
        ProxyChoice::At(url) => ProxyRules::all(url),
        ProxyChoice::Environment => ProxyRules::of_environment(&ProxyVariables {
            // In capitals it may be a header `Proxy` that somebody sent to a server that started us.
            http: variable(["http_proxy"; 2]),
            https: variable(["https_proxy", "HTTPS_PROXY"]),
            all: variable(["all_proxy", "ALL_PROXY"]),
            none: variable(["no_proxy", "NO_PROXY"]),
        }),
    }
}

/// Who looks names up for the gate at which crawls meet. Where a proxy does so nobody else does: crawls meet by names alone then.
pub(crate) fn gate_resolver(settings: &Settings) -> Result<Arc<dyn Resolver>, CommandFailure> {
    let through = proxy(&settings.fetch.proxy).map_err(SetupError::from)?;
    if through.are_none() { resolver(settings.fetch.resolver) } else { Ok(Arc::new(NoResolver)) }
}

/// Knows no name.
struct NoResolver;

impl Resolver for NoResolver {
    fn resolve(&self, _: &str) -> Resolving {
        Box::pin(std::future::ready(Ok(HostAddresses::of(Vec::new()))))
    }
}

/// Who looks names up.
pub(crate) fn resolver(service: NameService) -> Result<Arc<dyn Resolver>, CommandFailure> {
    let failed = |error| CommandFailure::Usage(format!("--resolver: {error}"));
    Ok(match service {
        NameService::System => Arc::new(SystemResolver),
        NameService::Dns => Arc::new(DnsResolver::of_system().map_err(failed)?),
        NameService::Server(server) => Arc::new(DnsResolver::of_server(server).map_err(failed)?),
    })
}

/// The names of starts that may be private: not those of hosts that had a public address in an earlier run. Whoever can change the
/// address of a name would have the crawl ask in the user's own network.
pub(crate) fn start_names<'a>(
    own: impl Iterator<Item = Cow<'a, WebUrl>>,
    directory: &CrawlDirectory,
) -> Result<StartNames, StoreError> {
    let mut names: HashSet<Box<str>> =
        own.filter(|url| url.ip_literal().is_none()).map(|url| url.host().into()).collect();
    directory.host_addresses(|origin, address| {
        if special_use(address).is_none()
            && let Ok(url) = WebUrl::parse(origin)
        {
            names.remove(url.host());
        }
    })?;
    Ok(StartNames::new(names.iter().map(|name| &**name)))
}

fn allowances(texts: &[String]) -> Result<Vec<Allowance>, CommandFailure> {
    let read = |text: &String| text.parse().map_err(|error| CommandFailure::Usage(format!("--allow-private: {error}")));
    texts.iter().map(read).collect()
}

/// Addresses that the user gave.
pub(crate) fn overrides(texts: &[String]) -> Result<Vec<ResolveOverride>, CommandFailure> {
    let read = |text: &String| text.parse().map_err(|error| CommandFailure::Usage(format!("--resolve: {error}")));
    texts.iter().map(read).collect()
}
