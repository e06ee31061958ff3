//! [`NoisyPage`]: what is answered for a page that moves by itself.

use std::{fmt::Write as _, ops::Range};

use super::super::{Random, faults::SECOND};

/// Lines of a page that can be edited.
const LINES: usize = 8;

/// The line that its edit removes, and the one that its edit adds.
const REMOVED: usize = 4;
const ADDED: usize = 7;

/// The line whose edit takes an item from a list in which others move, if there is one.
pub(super) const OF_LIST: usize = 6;

/// What moves at each look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moving {
    /// The time, to the second.
    Clock,
    Counter,
    /// Three of twelve texts.
    Adverts,
    /// A list in any order.
    Order,
    /// The target of a link out of the scope.
    Session,
    /// What nobody sees.
    Token,
    /// The time, to the minute.
    Minutes,
    /// One of two texts, as two machines have it.
    Turns,
    /// Four items of twelve.
    List,
    /// A counter in a line that is edited.
    Beside,
}

pub(super) const ALL: [Moving; 10] = [
    Moving::Clock,
    Moving::Counter,
    Moving::Adverts,
    Moving::Order,
    Moving::Session,
    Moving::Token,
    Moving::Minutes,
    Moving::Turns,
    Moving::List,
    Moving::Beside,
];

/// A page, what of it moves, and when it is edited, in milliseconds from the beginning.
#[derive(Debug)]
pub(in crate::engine::simulation) struct NoisyPage {
    pub(super) number: u64,
    pub(super) moving: Vec<Moving>,
    pub(super) edits: Vec<u64>,
    /// When the whole site has other markup.
    pub(super) redesign: u64,
    /// When a log-in is shown in its place, and what moves there.
    pub(super) wall: Range<u64>,
    pub(super) moving_at_wall: Vec<Moving>,
    /// When it is elsewhere, and where.
    pub(super) moves: Option<(u64, String)>,
    pub(in crate::engine::simulation) links: Vec<String>,
}

/// What is answered for the address of a page.
pub(in crate::engine::simulation) enum NoisyAnswer {
    Page(String),
    Redirect(String),
    Missing,
}

/// What a copy of a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shown {
    /// How often it was edited; `None` where a log-in is in its place.
    pub(super) edition: Option<usize>,
    pub(super) redesigned: bool,
}

impl NoisyPage {
    /// What is answered at a moment for one of its addresses.
    pub(in crate::engine::simulation) fn answer(&self, url: &str, at: u64, random: &mut Random) -> NoisyAnswer {
        match &self.moves {
            Some((from, to)) if (url == to) != (at >= *from) => {
                if url == to {
                    NoisyAnswer::Missing
                } else {
                    NoisyAnswer::Redirect(to.clone())
                }
            }
            _ => NoisyAnswer::Page(self.body(at, random)),
        }
    }

    pub(super) fn shown(&self, at: u64) -> Shown {
        let edition = (!self.wall.contains(&at)).then(|| self.edition(at));
        Shown { edition, redesigned: at >= self.redesign }
    }

    /// How often it was edited until a moment.
    fn edition(&self, at: u64) -> usize {
        self.edits.partition_point(|edit| *edit <= at)
    }

    /// What it shows at a moment.
    fn body(&self, at: u64, random: &mut Random) -> String {
        let edition = self.edition(at);
        let mut html = if self.wall.contains(&at) {
            "<title>Log in</title><h1>Log in</h1><p>Say who you are, and your password</p>".to_owned()
        } else {
            self.content(edition)
        };
        for moving in if self.wall.contains(&at) { &self.moving_at_wall } else { &self.moving } {
            html.push_str(&moving.html(at, edition, random));
        }
        for link in &self.links {
            // A log-in says the same on all pages.
            let name = if self.wall.contains(&at) { "" } else { link };
            write!(html, "<a href=\"{link}\">{name}</a>").unwrap();
        }
        if at >= self.redesign {
            for [from, to] in [["p>", "section>"], ["div>", "article>"], ["h2>", "h3>"]] {
                html = html.replace(from, to);
            }
        }
        html
    }

    /// What it says of its own.
    fn content(&self, edition: usize) -> String {
        let mut html = format!("<title>Page {0}</title><h1>Page {0}</h1>", self.number);
        for line in 0..LINES {
            let edits = (1..=edition).filter(|edit| edit % LINES == line).count();
            let edits = if line == OF_LIST && self.moving.contains(&Moving::List) { 0 } else { edits };
            if (line == REMOVED && edits > 0) || (line == ADDED && edits == 0) {
                continue;
            }
            let subject = WORDS[usize::try_from(self.number).unwrap() * 7 % WORDS.len()];
            let object = WORDS[(line * 5 + usize::try_from(self.number).unwrap()) % WORDS.len()];
            match line % 3 {
                0 => write!(html, "<p>The {subject} of page {} has {object}, in edition {edits}.</p>", self.number),
                1 => write!(html, "<p>{object} {} costs {} euros</p>", self.number, 20 + edits),
                _ => write!(
                    html,
                    "<div><b>{subject} {}</b> {}</div>",
                    self.number,
                    (object.to_owned() + " ").repeat(1 + edits)
                ),
            }
            .unwrap();
        }
        html
    }
}

const WORDS: [&str; 12] = [
    "tide", "meadow", "harbor", "lantern", "copper", "sparrow", "orchard", "granite", "violin", "saddle", "thistle",
    "ember",
];

fn time_at(at: u64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_700_000_000 + i64::try_from(at / SECOND).unwrap()).unwrap()
}

impl Moving {
    fn html(self, at: u64, edition: usize, random: &mut Random) -> String {
        match self {
            Self::Clock => format!("<p>It is {}</p>", time_at(at).strftime("%Y-%m-%d %H:%M:%S")),
            Self::Minutes => format!("<div>Made on {}</div>", time_at(at).strftime("%d %B %Y, %H:%M")),
            Self::Turns => {
                format!("<div>Served by {}</div>", ["the first", "the second"][usize::from(random.percent(50))])
            }
            Self::List => {
                let items = (0..4).map(|part| WORDS[usize::try_from(3 * part + random.below(3)).unwrap()]);
                let items: Vec<_> = items.map(|word| format!("<li>News of {word}</li>")).collect();
                let stays = if edition < OF_LIST { "<li>All news</li><li>Archive</li>" } else { "<li>All news</li>" };
                format!("<h2>News</h2><ol>{}{stays}</ol>", items.concat())
            }
            Self::Beside => format!("<p>Costs {} euros, {} were sold</p>", 50 + edition, 700 + at / 500),
            Self::Counter => format!("<p>Seen {} times</p>", 10_000 + at / 100),
            Self::Adverts => {
                let first = random.below(12);
                let shown = [first, (first + 1 + random.below(5)) % 12, (first + 6 + random.below(6)) % 12];
                let adverts =
                    shown.map(|advert| format!("<p>Buy the {} now</p>", WORDS[usize::try_from(advert).unwrap()]));
                format!("<h2>Offers</h2>{}", adverts.concat())
            }
            Self::Order => {
                let mut items: Vec<String> = WORDS[..6].iter().map(|word| format!("<li>All on {word}</li>")).collect();
                for last in (1..items.len()).rev() {
                    items.swap(last, usize::try_from(random.below(last as u64 + 1)).unwrap());
                }
                format!("<h2>Related</h2><ul>{}</ul>", items.concat())
            }
            Self::Session => format!("<a href=\"http://elsewhere.test/in?session={:x}\">Log in</a>", random.next()),
            Self::Token => format!("<input type=\"hidden\" value=\"{:x}\">", random.next()),
        }
    }
}
