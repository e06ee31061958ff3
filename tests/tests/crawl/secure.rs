//! https, with a certificate of a private authority.

use std::{fs, path::PathBuf};

use anyhow::Result;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use webloom_tests::{
    nginx::{Identity, Nginx},
    webloom::{Webloom, assert_clean, pages, with_outcome},
};

use crate::{Folder, assert_counts};

/// Names the file with the certificates to be trusted.
const TRUSTED: &str = "SSL_CERT_FILE";

/// A site behind https.
pub(crate) struct Site {
    nginx: Nginx,
    folder: Folder,
}

impl Site {
    /// Serves these pages; `None` after saying `skipped: …`.
    pub(crate) fn serve(pages: &[(&str, &str)]) -> Result<Option<Self>> {
        let folder = Folder::new();
        let root = folder.0.path().join("site");
        fs::create_dir(&root)?;
        for (name, body) in pages {
            fs::write(root.join(name), body)?;
        }
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let (issuing, own) = (KeyPair::generate()?, KeyPair::generate()?);
        fs::write(folder.0.path().join("authority"), authority.self_signed(&issuing)?.pem())?;
        let certificate = CertificateParams::new(["127.0.0.1".to_owned()])?;
        let certificate = certificate.signed_by(&own, &Issuer::new(authority, issuing))?.pem();
        let nginx = Nginx::serve_secure(&root, &Identity { certificate, key: own.serialize_pem() })?;
        Ok(nginx.map(|nginx| Self { nginx, folder }))
    }

    pub(crate) fn port(&self) -> u16 {
        let url = self.url("");
        url.trim_end_matches('/').rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port")
    }

    fn authority(&self) -> PathBuf {
        self.folder.0.path().join("authority")
    }

    /// A crawl that trusts the authority.
    fn crawl(&self, start: &str) -> Webloom {
        let run = Webloom::crawl(&self.folder.crawl(), start);
        run.env(TRUSTED, &self.authority().display().to_string())
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.nginx.url())
    }
}

#[test]
fn pages_behind_https_are_fetched_by_http_2() -> Result<()> {
    let site = [("index.html", "<a href=a.html>a</a><a href=b.html>b</a>"), ("a.html", "a"), ("b.html", "b")];
    let Some(site) = Site::serve(&site)? else { return Ok(()) };
    let summary = site.crawl(&site.url("")).run().expect(0).json();
    assert_eq!(summary["end"], "drained");
    assert_counts(&summary);
    assert_clean(&site.folder.crawl());
    assert_eq!(with_outcome(&site.folder.crawl(), "stored"), ["", "a.html", "b.html"].map(|path| site.url(path)));
    let log = site.nginx.log()?;
    assert!(log.iter().all(|line| line.protocol == "HTTP/2.0"), "{log:?}");
    let mut asked: Vec<_> = log.iter().map(|line| line.uri.as_str()).collect();
    asked.sort_unstable();
    assert_eq!(asked, ["/", "/a.html", "/b.html", "/robots.txt"]);
    Ok(())
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() -> Result<()> {
    let Some(site) = Site::serve(&[("index.html", "")])? else { return Ok(()) };
    let run =
        Webloom::crawl(&site.folder.crawl(), &site.url("")).env("WEBLOOM_POLITENESS_GIVE_UP", "10ms").run().expect(4);
    let summary = run.json();
    assert_counts(&summary);
    assert_eq!((&summary["hosts"][0]["cause"], &summary["requests"]["sent"]), (&"tls_issuer".into(), &0.into()));
    // Plain http on this port would be in its log.
    assert_eq!((pages(&site.folder.crawl()).into_keys().collect(), site.nginx.log()?), (vec![site.url("")], vec![]));
    Ok(())
}

#[test]
fn http_is_not_tried_where_https_has_answered_once() -> Result<()> {
    let Some(site) = Site::serve(&[("index.html", "<a href=break>break</a><a href=a.html>a</a>"), ("a.html", "a")])?
    else {
        return Ok(());
    };
    let summary = site.crawl(site.url("").trim_start_matches("https://")).run().expect(0).json();
    assert_counts(&summary);
    assert_clean(&site.folder.crawl());
    let pages = pages(&site.folder.crawl());
    let outcomes: Vec<_> = pages.iter().map(|(url, page)| (url.clone(), page["outcome"].as_str())).collect();
    let expected = [("", "stored"), ("a.html", "stored"), ("break", "failed")];
    assert_eq!(outcomes, expected.map(|(path, outcome)| (site.url(path), Some(outcome))));
    let log = site.nginx.log()?;
    assert!(log.iter().all(|line| line.protocol == "HTTP/2.0"), "{log:?}");
    Ok(())
}

#[test]
fn the_certificate_of_a_host_that_is_named_is_not_checked() -> Result<()> {
    let Some(site) = Site::serve(&[("index.html", "<a href=a.html>a</a>"), ("a.html", "a")])? else { return Ok(()) };
    let run =
        Webloom::crawl(&site.folder.crawl(), &site.url("")).args(["--insecure-host", "127.0.0.1"]).run().expect(0);
    assert_eq!(run.json()["pages"]["stored"], 2);
    let other = Folder::new();
    let run = Webloom::crawl(&other.crawl(), &site.url("")).args(["--insecure-host", "other.example"]);
    let run = run.env("WEBLOOM_POLITENESS_GIVE_UP", "10ms").run().expect(4);
    assert_eq!(run.json()["hosts"][0]["cause"], "tls_issuer", "that is another");
    Ok(())
}

#[test]
fn pages_are_asked_for_in_languages() {
    let server = crate::serve(|_: &webloom_tests::server::Asked| webloom_tests::server::Reply::html("x"));
    let crawl = |arguments: &[&str]| Webloom::crawl(&Folder::new().crawl(), &server.url("/")).args(arguments).run();
    crawl(&["--accept-language", "de, en;q=0.8"]).expect(0);
    let sent = |line: &str| {
        server.log().iter().filter(|hit| hit.headers.iter().any(|sent| sent.eq_ignore_ascii_case(line))).count()
    };
    assert_eq!(sent("accept-language: de, en;q=0.8"), 2);
    crawl(&[]).expect(0);
    assert_eq!(server.log().len(), 4);
    assert!(crawl(&["--accept-language", "de;q=2"]).expect(2).stderr.contains("give languages such as"));
}
