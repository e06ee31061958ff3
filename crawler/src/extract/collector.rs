//! The emitter: reduces what the tokenizer finds to what is wanted.
//!
//! It holds one tag at a time, and of that only the attributes that [`super::tags`] names. Where the text is wanted too, a [`Listener`]
//! gets it, and the reader skips less.

use std::{cell::RefCell, convert::Infallible};

use html5gum::{Emitter, Error, Reader, State, Tokenizer};

use super::{
    anchor_text,
    attention::{Attention, Region, TextOf},
    attributes::{has_token, is_nofollow},
    collected::Collected,
    directives::MetaRobots,
    element::{Element, LinkKinds},
    lines::{Deaf, ImageText, LineBuilder, Listener, is_shown_raw},
    reader::PageReader,
    references::{LinkLimits, ReferenceSeed, References},
    refresh::refresh_target,
    relations::{Relation, RelationTag, is_of_copy},
    tags::{Name, Slot, Tag, Values, Wanted},
};
use crate::{
    syntax::{Foreign, urls_of_source_set},
    text::Text,
};

/// How many bytes of a title are kept.
const LONGEST_TITLE: usize = 4096;

/// Finds what is wanted in a page whose bytes are UTF-8 (or nearly); its links go into `links`.
pub(super) fn collect(html: &[u8], wanted: Wanted, links: References) -> Collected {
    listen(html, wanted, links, &mut Deaf)
}

/// Finds what a page shows and loads, within limits, and its base.
pub(super) fn collect_parts(html: &[u8], limits: LinkLimits) -> Collected {
    let (attention, wanted) = (Attention::new(), Wanted::Parts);
    let [links, requisites] =
        [LinkLimits { links: 0, bytes: 0 }, limits].map(|limits| References::within(limits, ReferenceSeed::random()));
    let found = RefCell::new(Collected { links, requisites, ..Collected::default() });
    collect_from(PageReader::new(html, &attention, &found, wanted), &attention, wanted, &found, &mut Deaf);
    found.into_inner()
}

/// Finds links, base, title and robots directives, and the text.
pub(super) fn collect_with_text(
    html: &[u8],
    kinds: LinkKinds,
    images: ImageText,
    links: References,
) -> (Collected, Text) {
    let mut text = LineBuilder::new(images);
    let wanted = if images == ImageText::Nothing { Wanted::Links(kinds) } else { Wanted::LinksAndImages(kinds) };
    let found = listen(html, wanted, links, &mut text);
    (found, text.finish())
}

/// The text alone of a page whose bytes are UTF-8 (or nearly).
pub(super) fn text_of(html: &[u8], images: ImageText) -> Text {
    let no_links = References::within(LinkLimits { links: 0, bytes: 0 }, ReferenceSeed::random());
    collect_with_text(html, LinkKinds::Anchors, images, no_links).1
}

fn listen(html: &[u8], wanted: Wanted, links: References, listener: &mut impl Listener) -> Collected {
    let attention = Attention::new();
    let found = RefCell::new(Collected { links, ..Collected::default() });
    collect_from(PageReader::new(html, &attention, &found, wanted), &attention, wanted, &found, listener);
    found.into_inner()
}

/// As [`collect`], from any reader, in addition to what was `found` before.
pub(super) fn collect_from(
    reader: impl Reader<Error = Infallible>,
    attention: &Attention,
    wanted: Wanted,
    found: &RefCell<Collected>,
    listener: &mut impl Listener,
) {
    let Ok(()) = Tokenizer::new_with_emitter(reader, Collector::new(attention, found, wanted, listener)).finish();
}

/// Takes the tokenizer's events. Errors and comments are nobody's concern.
#[derive(Debug)]
struct Collector<'a, L> {
    attention: &'a Attention,
    /// What the reader adds plain links to. Neither end calls the other while it borrows.
    found: &'a RefCell<Collected>,
    wanted: Wanted,
    foreign: Foreign,
    name: Name,
    /// Name of the last start tag: what ends a raw text element.
    last_start: Name,
    /// What the tag is, once its name is complete. An end tag is nothing: its attributes mean nothing.
    tag: Option<Tag>,
    closing: bool,
    self_closing: bool,
    attribute: Name,
    /// Whether the attribute has a name so far and no more.
    naming: bool,
    slot: Option<Slot>,
    values: Values,
    listener: &'a mut L,
}

impl<'a, L: Listener> Collector<'a, L> {
    fn new(attention: &'a Attention, found: &'a RefCell<Collected>, wanted: Wanted, listener: &'a mut L) -> Self {
        if L::LISTENS {
            attention.region.set(Region::Text);
        }
        Self {
            attention,
            found,
            wanted,
            foreign: Foreign::default(),
            name: Name::default(),
            last_start: Name::default(),
            tag: None,
            closing: false,
            self_closing: false,
            attribute: Name::default(),
            naming: false,
            slot: None,
            values: Values::default(),
            listener,
        }
    }

    fn begin_tag(&mut self, closing: bool) {
        self.closing = closing;
        self.attention.attributes.set(0);
        self.self_closing = false;
        self.name = Name::default();
        self.tag = closing.then_some(Tag::Other);
        self.naming = false;
        self.values.clear();
    }

    fn tag(&mut self) -> Tag {
        *self.tag.get_or_insert_with(|| {
            let tag = Tag::named(self.name.as_bytes());
            if tag.matters(self.wanted) { tag } else { Tag::Other }
        })
    }

    /// The attribute's name is complete: is it kept?
    fn end_name(&mut self) {
        if self.naming {
            self.naming = false;
            let slot = self.tag().slot(self.attribute.as_bytes(), self.wanted);
            self.slot = slot.filter(|slot| self.values.start(*slot));
        }
    }

    /// A start tag is complete: the state to read its content in, and where that is.
    fn opened(&mut self) -> Option<State> {
        self.last_start = self.name;
        let html = self.foreign.start(self.name.as_bytes(), self.self_closing);
        let tag = self.tag();
        let content = tag.content().filter(|_| html);
        let titled = html && tag == Tag::Title && self.found.borrow().title.is_none();
        self.take(tag, html);
        if html {
            self.listener.opened(self.name.as_bytes());
            if tag == Tag::Embedded && self.wanted.has_images() && self.name.as_bytes() == b"img" {
                let [alt, source] = [Slot::Content, Slot::Url].map(|slot| self.values.get(slot).unwrap_or_default());
                self.listener.image(alt, source);
            }
        }
        self.attention.region.set(match content {
            Some(_) if titled => Region::WantedText,
            Some(_) if L::LISTENS && is_shown_raw(self.name.as_bytes()) => Region::Text,
            Some(_) => Region::UnwantedText,
            None => self.markup(),
        });
        content
    }

    fn closed(&mut self) {
        self.foreign.end(self.name.as_bytes());
        self.attention.region.set(self.markup());
        self.listener.closed(self.name.as_bytes());
    }

    fn markup(&self) -> Region {
        if L::LISTENS {
            return Region::Text;
        }
        if self.foreign.is_open() { Region::Foreign } else { Region::Markup }
    }

    /// Keeps what the start tag says. In SVG, `a` alone means what it means in HTML.
    fn take(&self, tag: Tag, html: bool) {
        let found = &mut *self.found.borrow_mut();
        if self.wanted == Wanted::Parts && tag != Tag::Base {
            return self.take_part(tag, html, found);
        }
        match tag {
            Tag::Anchor => self.take_anchor(html, found),
            _ if !html => {}
            Tag::Base if found.base.is_none() => found.base = self.values.get(Slot::Url).map(<[u8]>::to_vec),
            Tag::Meta => self.take_meta(found),
            Tag::Html if found.language.is_none() => {
                let language = self.values.get(Slot::Content).map(<[u8]>::trim_ascii);
                found.language = language.filter(|language| !language.is_empty()).map(<[u8]>::to_vec);
            }
            // The text follows. The reader has it.
            Tag::Heading if found.heading.is_none() => self.attention.text_of.set(Some(TextOf::Heading)),
            Tag::Title => drop(found.title.get_or_insert_default()),
            Tag::Link => self.take_link(found),
            Tag::Frame | Tag::InlineFrame => self.take_frame(found),
            Tag::Form => self.take_form(found),
            Tag::Embedded if self.wanted.has_images() => {}
            Tag::Script | Tag::Embedded => {
                found.has_scripts |= tag == Tag::Script;
                self.take_embedded(found);
            }
            _ => {}
        }
    }

    fn take_anchor(&self, html: bool, found: &mut Collected) {
        let other = self.values.get(Slot::OtherUrl).filter(|_| !html);
        let rel = self.values.get(Slot::Kind);
        let element = Element::of_anchor(self.name.as_bytes());
        let offered = self.values.get(Slot::Url).or(other);
        let number = found.links.offer(offered, element, rel.is_some_and(is_nofollow));
        let Some(number) = number.filter(|number| found.links.wants_label(*number)) else { return };
        if element == Element::Area {
            let text = self.values.get(Slot::Content).map(anchor_text::of_value);
            found.links.put_label(number, rel, &text.unwrap_or_default());
        } else {
            // The text follows. The reader has it.
            found.links.put_label(number, rel, "");
            self.attention.text_of.set(Some(TextOf::Link(number)));
        }
    }

    fn take_meta(&self, found: &mut Collected) {
        if let (Some(name), Some(content)) = (self.values.get(Slot::Kind), self.values.get(Slot::Content)) {
            found.robots |= MetaRobots::of_meta(name, content);
            if found.description.is_none() && name.trim_ascii().eq_ignore_ascii_case(b"description") {
                found.description = Some(content.to_vec());
            }
        }
        let refreshes =
            self.values.get(Slot::Type).is_some_and(|equivalent| equivalent.eq_ignore_ascii_case(b"refresh"));
        if refreshes && self.wanted.follows(LinkKinds::Pages) {
            let target = self.values.get(Slot::Content).and_then(refresh_target);
            found.links.offer_page(target, Element::Refresh, None);
        }
    }

    fn take_frame(&self, found: &mut Collected) {
        let source = self.values.get(Slot::Url);
        if self.wanted == Wanted::Everything {
            found.frames.offer_loaded(source);
        } else if self.values.get(Slot::Content).is_none() {
            // A frame with a document of its own loads none.
            found.links.offer_page(source, Element::of_frame(self.name.as_bytes()), None);
        }
    }

    /// What a form leads to that is sent as it is, but for its fields.
    fn take_form(&self, found: &mut Collected) {
        let others = ["post", "dialog"];
        let method = self.values.get(Slot::Type).unwrap_or_default();
        if !others.iter().any(|other| method.eq_ignore_ascii_case(other.as_bytes())) {
            found.links.offer_page(self.values.get(Slot::Url), Element::Form, self.values.get(Slot::Kind));
        }
    }

    fn take_link(&self, found: &mut Collected) {
        let [href, rel, media_type, language] =
            [Slot::Url, Slot::Kind, Slot::Type, Slot::Content].map(|slot| self.values.get(slot));
        let tag = RelationTag { href, rel, media_type, language };
        if self.wanted != Wanted::Everything {
            return tag.put_into(found);
        }
        tag.note_canonical(found);
        let rel = rel.unwrap_or_default();
        if Relation::of(rel, media_type) == Relation::Part {
            found.requisites.offer_loaded(href);
        } else if has_token(rel, b"alternate") {
            found.alternates.offer_loaded(href);
        }
    }

    /// Keeps what is shown or loaded where the tag is.
    fn take_part(&self, tag: Tag, html: bool, found: &mut Collected) {
        let [url, other, content] = [Slot::Url, Slot::OtherUrl, Slot::Content].map(|slot| self.values.get(slot));
        let name = self.name.as_bytes();
        let parts = &mut found.requisites;
        match tag {
            Tag::Use if !html => parts.offer_part(url.or(other), Element::Use),
            // The image of a drawing.
            Tag::Embedded if !html => parts.offer_part(url.or(other), Element::of_part(name)),
            Tag::Embedded | Tag::Script => {
                let values = [url, other]
                    .into_iter()
                    .flatten()
                    .chain(content.into_iter().flat_map(|set| urls_of_source_set(set).map(|url| &set[url])));
                for value in values {
                    parts.offer_part(Some(value), Element::of_part(name));
                }
            }
            Tag::Link => {
                let [rel, media_type] = [Slot::Kind, Slot::Type].map(|slot| self.values.get(slot));
                let rel = rel.unwrap_or_default();
                if is_of_copy(rel, media_type) {
                    let is_sheet = has_token(rel, b"stylesheet");
                    parts.offer_part(url, if is_sheet { Element::StyleSheet } else { Element::Part });
                }
            }
            _ => {}
        }
    }

    fn take_embedded(&self, found: &mut Collected) {
        for slot in [Slot::Url, Slot::OtherUrl] {
            found.requisites.offer_loaded(self.values.get(slot));
        }
    }
}

impl<L: Listener> Emitter for Collector<'_, L> {
    type Token = Infallible;

    fn init_start_tag(&mut self) {
        self.begin_tag(false);
    }

    fn init_end_tag(&mut self) {
        self.begin_tag(true);
    }

    fn push_tag_name(&mut self, name: &[u8]) {
        self.name.push(name);
    }

    fn init_attribute(&mut self) {
        self.attention.attributes.update(|attributes| attributes.saturating_add(1));
        self.end_name();
        self.naming = true;
        self.attribute = Name::default();
    }

    fn push_attribute_name(&mut self, name: &[u8]) {
        self.attribute.push(name);
    }

    fn init_attribute_value(&mut self) {
        self.end_name();
        self.attention.value.set(self.slot.is_some());
    }

    fn push_attribute_value(&mut self, value: &[u8]) {
        if let Some(slot) = self.slot {
            self.values.push(slot, value);
        }
    }

    fn set_self_closing(&mut self) {
        self.self_closing = true;
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.end_name();
        if self.closing {
            self.closed();
            return None;
        }
        self.opened()
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.closing && self.name.as_bytes() == self.last_start.as_bytes()
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.foreign.is_foreign()
    }

    fn emit_string(&mut self, text: &[u8]) {
        if L::LISTENS && self.attention.region.get() == Region::Text && !self.foreign.is_drawing() {
            self.listener.text(text);
        }
        if self.attention.region.get() != Region::WantedText {
            return;
        }
        if let Some(title) = &mut self.found.borrow_mut().title {
            let space = LONGEST_TITLE - title.len();
            title.extend_from_slice(&text[..text.len().min(space)]);
        }
    }

    #[inline]
    fn should_emit_errors(&mut self) -> bool {
        false
    }

    #[inline]
    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn set_last_start_tag(&mut self, _: Option<&[u8]>) {}
    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn emit_current_comment(&mut self) {}
    fn init_doctype(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn set_force_quirks(&mut self) {}
    fn emit_current_doctype(&mut self) {}
}
