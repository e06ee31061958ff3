//! What the pages of a [`World`] answer.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::{
    faults::Trouble,
    noisy::{NoisyAnswer, NoisyPage},
    spelling::spelled,
    web::{Later, SimulatedPage, endless, is_outside, split},
};
use super::{Answer, World, cause, response};
use crate::fetch::{FetchError, FetchResponse, Truncation};

impl World {
    /// What a page answers.
    pub(super) fn page(&mut self, url: &str, origin: &str, page: SimulatedPage) -> Answer {
        let mut had = || {
            let had = self.had.entry(url.to_owned()).or_default();
            *had += 1;
            *had
        };
        let spelling = self.spelling;
        let redirect = |to: String| response(301, Some(("location", written(&to, spelling))), "");
        match page {
            SimulatedPage::Missing => Ok(response(404, None, "")),
            SimulatedPage::Living(changes, links) => Ok(self.living(&changes, links)),
            SimulatedPage::Noisy(page) => Ok(self.noisy(url, &page)),
            SimulatedPage::Grows(at, one, other) => {
                let links = if self.at < at { one } else { other };
                Ok(self.html(links))
            }
            SimulatedPage::Once(links, later) if had() > 1 => Ok(self.later(links, later)),
            SimulatedPage::Once(links, _) => Ok(self.html(links)),
            SimulatedPage::Links(links) => Ok(self.html_for_follower(url, links)),
            SimulatedPage::Slow(took, links) => {
                self.took = Some(took);
                Ok(self.html_for_follower(url, links))
            }
            SimulatedPage::Sitemap(links) => Ok(self.list("urlset", "url", links)),
            SimulatedPage::SitemapIndex(links) => Ok(self.list("sitemapindex", "sitemap", links)),
            SimulatedPage::Redirect(to) => Ok(redirect(to)),
            SimulatedPage::RedirectUntil(at, one, other) => Ok(redirect(if self.at < at { one } else { other })),
            SimulatedPage::RedirectToItself => Ok(redirect(url.to_owned())),
            SimulatedPage::Endless(number) => Ok(redirect(endless(origin, number + 1))),
            SimulatedPage::Broken => Ok(response(500, None, "")),
            SimulatedPage::Panics => Err(FetchError::Internal),
            SimulatedPage::Hangs => self.fail(Trouble::Hangs),
            SimulatedPage::Flaky(times, links) => {
                let had = had();
                match (had <= times, had.is_multiple_of(2)) {
                    (true, true) => Err(FetchError::Closed(cause())),
                    (true, false) => Ok(response(502, None, "")),
                    (false, _) => Ok(self.html(links)),
                }
            }
            SimulatedPage::Crashes(crash, links) => {
                if had() > crash.times {
                    return Ok(self.html(links));
                }
                self.servers.crash(origin, crash, self.at);
                // Who is connected sees the connection end.
                self.fail(if crash.trouble == Trouble::Refused { Trouble::Closed } else { crash.trouble })
            }
            SimulatedPage::Cut(times, links) => {
                let had = had();
                let mut whole = self.html(links);
                if had <= times {
                    whole.body.truncate(whole.body.len() / 2);
                    whole.truncated = Some(Truncation::Disconnect);
                }
                Ok(whole)
            }
        }
    }

    /// A page that was changed at these moments.
    fn living(&mut self, changes: &[u64], links: Vec<String>) -> FetchResponse {
        let mut page = self.html(links);
        let times = changes.partition_point(|change| *change <= self.at);
        page.body.extend(format!("<p>It was changed {times} times.</p>").bytes());
        page
    }

    fn noisy(&mut self, url: &str, page: &NoisyPage) -> FetchResponse {
        match page.answer(url, self.at, &mut self.random) {
            NoisyAnswer::Page(body) => {
                self.links.clone_from(&page.links);
                response(200, Some(("content-type", "text/html".to_owned())), &body)
            }
            NoisyAnswer::Redirect(to) => response(301, Some(("location", to)), ""),
            NoisyAnswer::Missing => response(404, None, ""),
        }
    }

    /// A page with these links; where the crawl is followed, the last of them is what the follower knows.
    fn html_for_follower(&mut self, url: &str, mut links: Vec<String>) -> FetchResponse {
        let Some(last) = self.follower.as_mut().and_then(|follower| {
            let last = links.pop()?;
            follower.withheld.insert(url.to_owned(), last.clone());
            Some(last)
        }) else {
            return self.html(links);
        };
        let mut page = self.html(links);
        // A server knows when it changes.
        page.body.extend(format!("<!-- {last} -->").bytes());
        self.links.push(last);
        page
    }

    /// A page with these links.
    fn html(&mut self, links: Vec<String>) -> FetchResponse {
        let text = links.iter().fold(String::new(), |html, link| {
            html + "<a href=\"" + &written(link, self.spelling) + name_on(link) + "\">x</a>"
        });
        self.links = links;
        response(200, Some(("content-type", "text/html".to_owned())), &text)
    }

    /// A sitemap, or an index of sitemaps.
    fn list(&mut self, root: &str, entry: &str, links: Vec<String>) -> FetchResponse {
        let entries: String = links
            .iter()
            .flat_map(|link| {
                let said = if entry == "url" { self.said_of(link) } else { String::new() };
                ["<", entry, "><loc>", link, "</loc>", &said, "</", entry, ">"].map(str::to_owned)
            })
            .collect();
        self.links = links;
        let xml = format!("<{root}>{entries}</{root}>");
        response(200, Some(("content-type", "application/xml".to_owned())), &xml)
    }

    /// What a sitemap says of an entry: nothing, that it was modified just now, or how it is rated.
    fn said_of(&self, link: &str) -> String {
        let chance = xxh3_64_with_seed(link.as_bytes(), 3);
        let now = i64::try_from(self.at).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
        match (chance % 3, now) {
            (0, Some(now)) => format!("<lastmod>{now}</lastmod>"),
            (1, _) => format!("<lastmod>2001-01-01</lastmod><priority>0.{}</priority>", chance / 3 % 10),
            _ => String::new(),
        }
    }

    /// What a page is when it is asked for again.
    fn later(&mut self, links: Vec<String>, later: Later) -> FetchResponse {
        let html = |text: &str| response(200, Some(("content-type", "text/html".to_owned())), text);
        match later {
            Later::Bare => html("<p>nothing is left</p>"),
            Later::Missing => response(404, None, ""),
            Later::Empty => html(""),
            Later::LogIn => response(302, Some(("location", "http://elsewhere.test/login".to_owned())), ""),
            Later::NoFollow => {
                let mut page = self.html(links);
                self.links.clear();
                page.headers.push(("x-robots-tag".into(), b"nofollow".to_vec().into()));
                page
            }
            Later::Image => response(200, Some(("content-type", "image/png".to_owned())), "png"),
        }
    }
}

/// A link as a page has it.
/// Some links that leave the scope lead to a name.
fn name_on(link: &str) -> &'static str {
    let is_out = split(link).is_some_and(|(origin, _)| is_outside(origin));
    if is_out && xxh3_64_with_seed(link.as_bytes(), 1).is_multiple_of(3) { "#name" } else { "" }
}

fn written(link: &str, spelling: Option<u64>) -> String {
    spelling.map_or_else(|| link.to_owned(), |page| spelled(link, xxh3_64_with_seed(link.as_bytes(), page)))
}
