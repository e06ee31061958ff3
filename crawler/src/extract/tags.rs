//! The tags and attributes that mean something here, by name.

use html5gum::State;

use super::element::LinkKinds;

/// How much of a page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Links to pages, base, title and robots directives.
    Links(LinkKinds),
    /// The same, and what images say in the text.
    LinksAndImages(LinkKinds),
    /// All that a page refers to, each kind apart: `a` and `area`, frames, images, scripts, styles, alternates.
    Everything,
    /// What a page shows and loads, with its base.
    Parts,
}

impl Wanted {
    /// Whether links of this kind are among those to pages.
    pub(super) fn follows(self, kind: LinkKinds) -> bool {
        matches!(self, Self::Links(kinds) | Self::LinksAndImages(kinds) if kinds >= kind)
    }

    /// Whether images say something in the text.
    pub(super) fn has_images(self) -> bool {
        matches!(self, Self::LinksAndImages(_))
    }

    /// Whether nothing is asked for but what `a` and `area` lead to.
    fn has_anchors_alone(self) -> bool {
        matches!(self, Self::Links(LinkKinds::Anchors) | Self::LinksAndImages(LinkKinds::Anchors))
    }
}

/// A start tag by its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// `a`, `area`.
    Anchor,
    /// `base`.
    Base,
    /// `html`.
    Html,
    /// `h1`.
    Heading,
    /// `meta`.
    Meta,
    /// `title`.
    Title,
    /// `svg`, `math`: not HTML from here on.
    Foreign,
    /// `script`.
    Script,
    /// `style`, `xmp`, `noembed`, `noframes`: raw text.
    RawText,
    /// `textarea`: text with character references.
    TextArea,
    /// `iframe`: a frame, and raw text.
    InlineFrame,
    /// `plaintext`: the rest of the page is text.
    PlainText,
    /// `frame`.
    Frame,
    /// `link`.
    Link,
    /// `form`.
    Form,
    /// `img`, `image`, `input`, `source`, `track`, `embed`, `audio`, `video`, `object`: brings its own resource.
    Embedded,
    /// `use` in SVG.
    Use,
    /// Everything else.
    Other,
}

/// The longest tag name [`Tag::named`] knows.
const LONGEST: usize = 9;

impl Tag {
    /// The tag with this name, in any case.
    pub(super) fn named(name: &[u8]) -> Self {
        let mut lower = [0; LONGEST];
        let Some(lower) = lower.get_mut(..name.len()) else { return Self::Other };
        for (to, from) in lower.iter_mut().zip(name) {
            *to = from.to_ascii_lowercase();
        }
        Self::lower(lower)
    }

    fn lower(name: &[u8]) -> Self {
        match name {
            b"a" | b"area" => Self::Anchor,
            b"base" => Self::Base,
            b"html" => Self::Html,
            b"h1" => Self::Heading,
            b"meta" => Self::Meta,
            b"title" => Self::Title,
            b"svg" | b"math" => Self::Foreign,
            b"script" => Self::Script,
            b"style" | b"xmp" | b"noembed" | b"noframes" => Self::RawText,
            b"textarea" => Self::TextArea,
            b"iframe" => Self::InlineFrame,
            b"plaintext" => Self::PlainText,
            b"frame" => Self::Frame,
            b"link" => Self::Link,
            b"form" => Self::Form,
            b"img" | b"image" | b"input" | b"source" | b"track" | b"embed" | b"audio" | b"video" | b"object" => {
                Self::Embedded
            }
            b"use" => Self::Use,
            _ => Self::Other,
        }
    }

    /// Whether the tokenizer must see this start tag: for its attributes, or because it changes how the next bytes are
    /// read.
    pub(super) fn matters(self, wanted: Wanted) -> bool {
        match self {
            Self::Other => false,
            Self::Link if wanted == Wanted::Parts => true,
            Self::Use => wanted == Wanted::Parts,
            Self::Html | Self::Heading => wanted != Wanted::Parts,
            Self::Frame | Self::Link => wanted == Wanted::Everything || wanted.follows(LinkKinds::Pages),
            Self::Form => wanted.follows(LinkKinds::PagesAndForms),
            Self::Embedded => matches!(wanted, Wanted::Everything | Wanted::Parts) || wanted.has_images(),
            _ => true,
        }
    }

    /// The tokenizer state this HTML element's content is read in, where it is not the data state (HTML standard,
    /// 13.2.6.4; scripts off).
    pub(super) fn content(self) -> Option<State> {
        match self {
            Self::Title | Self::TextArea => Some(State::RcData),
            Self::RawText | Self::InlineFrame => Some(State::RawText),
            Self::Script => Some(State::ScriptData),
            Self::PlainText => Some(State::PlainText),
            _ => None,
        }
    }

    /// Where this tag's attribute of this (lower case) name is kept, if it is.
    pub(super) fn slot(self, attribute: &[u8], wanted: Wanted) -> Option<Slot> {
        match (self, attribute) {
            (Self::Anchor | Self::Base | Self::Link, b"href") | (Self::Form, b"action") => Some(Slot::Url),
            (Self::Anchor, b"xlink:href") => Some(Slot::OtherUrl),
            (Self::Anchor | Self::Link | Self::Form, b"rel") | (Self::Meta, b"name") => Some(Slot::Kind),
            (Self::Meta, b"content") | (Self::Anchor, b"alt") | (Self::Link, b"hreflang") | (Self::Html, b"lang") => {
                Some(Slot::Content)
            }
            (Self::Link, b"type") | (Self::Meta, b"http-equiv") | (Self::Form, b"method") => Some(Slot::Type),
            (Self::Embedded, b"alt") if wanted.has_images() => Some(Slot::Content),
            (Self::Embedded, b"src") if wanted.has_images() => Some(Slot::Url),
            _ if wanted.has_anchors_alone() => None,
            (Self::Frame | Self::InlineFrame, b"src") => Some(Slot::Url),
            (Self::InlineFrame, b"srcdoc") => Some(Slot::Content),
            (Self::Embedded, b"srcset") if wanted == Wanted::Parts => Some(Slot::Content),
            (Self::Embedded | Self::Use, b"href") if wanted == Wanted::Parts => Some(Slot::Url),
            (Self::Embedded | Self::Use, b"xlink:href") if wanted == Wanted::Parts => Some(Slot::OtherUrl),
            _ if !matches!(wanted, Wanted::Everything | Wanted::Parts) => None,
            (Self::Embedded | Self::Script, b"src") => Some(Slot::Url),
            (Self::Embedded, b"data" | b"poster") => Some(Slot::OtherUrl),
            _ => None,
        }
    }
}

/// The attributes of one tag that are kept, by what they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// `href`, `src`, `action`.
    Url,
    /// `xlink:href` in SVG, `poster`, `data`.
    OtherUrl,
    /// `rel`, or the `name` of a meta tag.
    Kind,
    /// `content`, the `lang` of the page, the `alt` of an area or image, the `srcdoc` of a frame, the `hreflang` of a link, or what is shown in other sizes.
    Content,
    /// `type`, `method`, or the `http-equiv` of a meta tag.
    Type,
}

/// The kept attribute values of the current tag. The buffers are used again for each tag.
#[derive(Debug, Default)]
pub(super) struct Values {
    buffers: [Vec<u8>; 5],
    present: u8,
}

impl Values {
    /// Forgets the last tag's values.
    pub(super) fn clear(&mut self) {
        self.present = 0;
    }

    /// Starts this value; `false` when the tag has it already (of duplicate attributes the first counts).
    pub(super) fn start(&mut self, slot: Slot) -> bool {
        let bit = 1 << slot as u8;
        let fresh = self.present & bit == 0;
        if fresh {
            self.present |= bit;
            self.buffers[slot as usize].clear();
        }
        fresh
    }

    /// Adds to a started value.
    pub(super) fn push(&mut self, slot: Slot, bytes: &[u8]) {
        self.buffers[slot as usize].extend_from_slice(bytes);
    }

    /// The value, if the tag has the attribute (one without a value is empty).
    pub(super) fn get(&self, slot: Slot) -> Option<&[u8]> {
        (self.present & (1 << slot as u8) != 0).then_some(&self.buffers[slot as usize][..])
    }
}

/// A tag's or attribute's name, as far as it may be one that matters; a longer one reads as empty.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Name {
    bytes: [u8; 16],
    len: usize,
}

impl Name {
    const TOO_LONG: usize = usize::MAX;

    /// Adds to the name.
    pub(super) fn push(&mut self, more: &[u8]) {
        match self.bytes.get_mut(self.len..self.len.saturating_add(more.len())) {
            Some(space) => {
                space.copy_from_slice(more);
                self.len += more.len();
            }
            None => self.len = Self::TOO_LONG,
        }
    }

    /// The whole name.
    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_case() {
        assert_eq!(Tag::named(b"A"), Tag::Anchor);
        assert_eq!(Tag::named(b"NoFrames"), Tag::RawText);
        assert_eq!(Tag::named(b"noscript"), Tag::Other);
        assert_eq!(Tag::named(b""), Tag::Other);
        assert_eq!(Tag::named(b"plaintextplaintext"), Tag::Other);
    }

    #[test]
    fn an_overlong_name_is_no_name() {
        let mut name = Name::default();
        name.push(b"plain");
        name.push(b"text");
        assert_eq!(name.as_bytes(), b"plaintext");
        for _ in 0..300 {
            name.push(b"more");
        }
        assert_eq!(name.as_bytes(), b"");
    }

    #[test]
    fn the_first_of_duplicate_values_counts() {
        let mut values = Values::default();
        assert!(values.start(Slot::Url));
        values.push(Slot::Url, b"one");
        assert!(!values.start(Slot::Url));
        assert_eq!(values.get(Slot::Url), Some(&b"one"[..]));
        values.clear();
        assert_eq!(values.get(Slot::Url), None);
    }
}
