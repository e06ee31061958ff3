//! Reads an XML document event by event, and finds out what it is.

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use super::{
    elements::XmlName,
    feed::FeedWords,
    gathering::{Gathering, Listed},
    list::SourceKind,
    outline::{Outline, Vocabulary},
    urlset::SitemapWords,
};

/// Elements before the root that are passed over: what a server printed by mistake.
const MOST_BEFORE: usize = 16;

const ROOTS: [(&str, SourceKind); 5] = [
    ("urlset", SourceKind::Urlset),
    ("sitemapindex", SourceKind::Index),
    ("rss", SourceKind::Rss),
    ("RDF", SourceKind::Rss),
    ("feed", SourceKind::Atom),
];

/// The events of a document. What is damaged is passed over where it has an end.
struct Events<'a> {
    text: &'a str,
    reader: Reader<&'a [u8]>,
}

impl<'a> Events<'a> {
    fn of(text: &'a str) -> Self {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.allow_dangling_amp = true;
        config.allow_unmatched_ends = true;
        config.check_end_names = false;
        Self { text, reader }
    }

    /// `Err` has what is left where no event can be made of it.
    fn next(&mut self) -> Result<Event<'a>, &'a str> {
        loop {
            match self.reader.read_event() {
                Ok(event) => return Ok(event),
                Err(quick_xml::Error::IllFormed(_)) => {}
                Err(_) => self.pass_fault()?,
            }
        }
    }

    /// Goes on behind the fault: an unknown `<!…` is passed over, and what has no end took all the rest.
    fn pass_fault(&mut self) -> Result<(), &'a str> {
        let at = |position: u64| usize::try_from(position).unwrap_or(usize::MAX);
        let fault = at(self.reader.error_position());
        let behind = at(self.reader.buffer_position()).max(fault.saturating_add(2));
        match self.text.get(behind..).filter(|rest| !rest.is_empty()) {
            Some(rest) => *self = Self::of(rest),
            None => return Err(self.text.get(fault..).unwrap_or_default()),
        }
        Ok(())
    }
}

/// What the document is, if it is any of them; then its entries are gathered.
pub(super) fn read(text: &str, gathering: &mut Gathering<'_>) -> Option<SourceKind> {
    let mut events = Events::of(text);
    let (root, is_empty) = root(&mut events)?;
    let name = root.name();
    let XmlName { prefix, .. } = XmlName::of(name.into_inner());
    let kind = XmlName::of(name.into_inner()).among(&ROOTS)?;
    let listed = if kind == SourceKind::Index { Listed::Sitemap } else { Listed::Page };
    let is_whole = is_empty
        | match kind {
            SourceKind::Rss | SourceKind::Atom => {
                gather(&mut events, name.into_inner(), Outline::of(FeedWords::new(gathering, prefix, &root)))
            }
            _ => gather(&mut events, name.into_inner(), Outline::of(SitemapWords::new(gathering, prefix, listed))),
        };
    if !is_whole {
        gathering.unfinished();
    }
    Some(kind)
}

/// The first element that is a root of a source, and whether it is empty.
fn root<'a>(events: &mut Events<'a>) -> Option<(BytesStart<'a>, bool)> {
    for _ in 0..=MOST_BEFORE {
        let (tag, is_empty) = loop {
            match events.next().ok()? {
                Event::Start(tag) => break (tag, false),
                Event::Empty(tag) => break (tag, true),
                Event::Eof => return None,
                _ => {}
            }
        };
        let name = XmlName::of(tag.name().into_inner());
        if name.is("html") {
            return None;
        }
        if name.among(&ROOTS).is_some() {
            return Some((tag, is_empty));
        }
    }
    None
}

/// Whether the root has an end.
fn gather<V: Vocabulary>(events: &mut Events<'_>, root: &str, mut outline: Outline<V>) -> bool {
    let mut is_whole = false;
    loop {
        match events.next() {
            Ok(Event::Start(tag)) => outline.open(&tag),
            Ok(Event::Empty(tag)) => {
                outline.open(&tag);
                outline.close(tag.name().into_inner());
            }
            Ok(Event::End(tag)) => {
                is_whole |= tag.name().into_inner().eq_ignore_ascii_case(root);
                outline.close(tag.name().into_inner());
            }
            Ok(Event::Text(text)) => outline.text(&text),
            Ok(Event::CData(text)) => outline.text(&text),
            Ok(Event::GeneralRef(name)) => outline.refer(&name),
            Ok(Event::Eof) => return is_whole,
            Ok(_) => {}
            Err(rest) => {
                if rest.starts_with("</") {
                    outline.close_cut();
                }
                return is_whole;
            }
        }
    }
}
