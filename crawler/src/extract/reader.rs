//! The tokenizer's input, which skips what is not wanted.
//!
//! The tokenizer asks for "the bytes up to the next one of these". Where the bytes between cannot matter
//! ([`Attention`]), it gets more in one piece than it asked for: text with its character references, comments, unwanted
//! attribute values, and in HTML content whole tags that [`super::tags`] does not name. The state machine sees text,
//! which it drops. Most wanted tags are links, and these need the state machine only where their values hold character
//! references and the like: all others are read here, and skipped too. The result must be the same as with html5gum's
//! own reader: a property test below compares the two.

use std::{cell::RefCell, convert::Infallible};

use html5gum::{Readable, Reader};
use memchr::memchr;

use super::{
    anchor_text,
    attention::{Attention, Region, TextOf},
    attributes::{Attributes, is_nofollow, name_end, tag_end},
    collected::Collected,
    element::{Element, LinkKinds},
    references::References,
    relations::RelationTag,
    tags::{Tag, Wanted},
    word_count::begins_markup,
};
use crate::syntax::may_change_namespace;

/// Attributes of a tag that the tokenizer sees; those behind them mean nothing. It may need stack for each that has a value,
/// if the compiler does not make jumps of its calls: a tag with some thousands would end the process.
const MOST_ATTRIBUTES: u32 = 1_000;

/// Reads a page, with the emitter's attention in view.
#[derive(Debug)]
pub(super) struct PageReader<'a> {
    html: &'a [u8],
    rest: &'a [u8],
    attention: &'a Attention,
    found: &'a RefCell<Collected>,
    wanted: Wanted,
    /// What was left of the page where the last wanted `<` stood.
    stopped: usize,
}

impl<'a> PageReader<'a> {
    /// At the start of `html`.
    pub(super) fn new(html: &'a [u8], attention: &'a Attention, found: &'a RefCell<Collected>, wanted: Wanted) -> Self {
        Self { html, rest: html, attention, found, wanted, stopped: usize::MAX }
    }

    /// How many bytes to hand over in a state that stops at `needle`; the page is not at its end.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the needles are constants: inlined, each state keeps one arm (a fifth of the time)"
    )]
    fn chunk(&mut self, needle: &[u8]) -> Option<usize> {
        let region = self.attention.region.get();
        match needle {
            // Data and RCDATA state.
            [b'&', b'<', ..] => {
                self.read_text();
                match region {
                    Region::Markup | Region::Foreign => Some(self.before_wanted_tag(region)),
                    Region::UnwantedText => Some(until(b'<', self.rest)),
                    Region::WantedText | Region::Text => None,
                }
            }
            // Raw text and script data.
            [b'<', 0, ..] => Some(until(b'<', self.rest)),
            // Comment.
            [b'<', b'-', 0, ..] => Some(until(b'-', self.rest)),
            // Quoted attribute values.
            [quote @ (b'"' | b'\''), b'&', ..] if !self.attention.value.get() => Some(until(*quote, self.rest)),
            // Attribute name.
            [b'\t', b'\n', b'\x0c', b' ', b'/', b'>', b'=', ..]
                if self.attention.attributes.get() > MOST_ATTRIBUTES =>
            {
                self.pass_attributes();
                None
            }
            _ => None,
        }
    }

    /// Takes the text of an element whose start tag the tokenizer has read.
    #[inline]
    fn read_text(&self) {
        let Some(of) = self.attention.text_of.take() else { return };
        let found = &mut *self.found.borrow_mut();
        match of {
            TextOf::Link(number) => found.links.put_label(number, None, &anchor_text::of_content(self.rest)),
            TextOf::Heading => found.heading = Some(anchor_text::of_heading(self.rest)).filter(|text| !text.is_empty()),
        }
    }

    /// Goes on at the end of the tag. The first byte of an attribute's name was read.
    #[cold]
    fn pass_attributes(&mut self) {
        let name = self.html.len() - self.rest.len() - 1;
        let end = tag_end(self.html, name);
        let closed = end > name && self.html[end - 1] == b'>';
        self.rest = &self.html[end - usize::from(closed)..];
    }

    /// The length of the text, unwanted tags and plain links before the next `<` that the tokenizer must see, or 1 when
    /// that is next.
    fn before_wanted_tag(&mut self, region: Region) -> usize {
        if self.rest.len() == self.stopped {
            return 1;
        }
        let found = &mut *self.found.borrow_mut();
        let wanted = self.wanted;
        let mut at = 0;
        while let Some(next) = memchr(b'<', &self.rest[at..]) {
            found.words.read(&self.rest[at..at + next]);
            at += next;
            let tag = &self.rest[at..];
            let link = || if region == Region::Markup { plain_link(tag, found, wanted) } else { None };
            let Some(length) = unwanted_tag(tag, region, wanted).or_else(link) else {
                self.stopped = self.rest.len() - at;
                if begins_markup(tag) {
                    found.words.divide();
                } else {
                    // The tokenizer takes the next byte with it.
                    found.words.read(&tag[..tag.len().min(2)]);
                }
                return at.max(1);
            };
            found.words.divide();
            at += length;
        }
        found.words.read(self.rest.get(at..).unwrap_or_default());
        self.rest.len()
    }
}

#[expect(clippy::inline_always, reason = "as above, and as html5gum does with its own readers")]
impl Reader for PageReader<'_> {
    type Error = Infallible;

    #[inline(always)]
    fn read_byte(&mut self) -> Result<Option<u8>, Infallible> {
        let Some((first, rest)) = self.rest.split_first() else { return Ok(None) };
        self.rest = rest;
        Ok(Some(*first))
    }

    #[inline(always)]
    fn try_read_string(&mut self, string: &[u8], case_sensitive: bool) -> Result<bool, Infallible> {
        let found = self.rest.to_reader().try_read_string(string, case_sensitive)?;
        if found {
            self.rest = &self.rest[string.len()..];
        }
        Ok(found)
    }

    #[inline(always)]
    fn read_until<'b>(&'b mut self, needle: &[u8], buffer: &'b mut [u8; 4]) -> Result<Option<&'b [u8]>, Infallible> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let length = match self.chunk(needle) {
            Some(length) => length,
            None => self.rest.to_reader().read_until(needle, buffer)?.map_or(0, <[u8]>::len),
        };
        let (chunk, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(Some(chunk))
    }
}

/// The length of what comes before `byte`, or 1 when `byte` is next.
#[inline]
fn until(byte: u8, bytes: &[u8]) -> usize {
    memchr(byte, bytes).unwrap_or(bytes.len()).max(1)
}

/// The length of the tag that `html` starts with (at its `<`), if it is a tag that does not matter in that region; all
/// that is left when the page ends in such a tag.
#[inline]
fn unwanted_tag(html: &[u8], region: Region, wanted: Wanted) -> Option<usize> {
    let closing = html.get(1)? == &b'/';
    let start = 1 + usize::from(closing);
    if !html.get(start)?.is_ascii_alphabetic() {
        return None;
    }
    let end = name_end(html, start);
    let name = &html[start..end];
    let matters =
        (!closing && Tag::named(name).matters(wanted)) || (region == Region::Foreign && may_change_namespace(name));
    (!matters).then(|| tag_end(html, end))
}

/// The length of the link that `html` starts with in HTML content, which is then taken into what was `found`. None if it is no
/// link, or one with values that only the tokenizer reads.
fn plain_link(html: &[u8], found: &mut Collected, wanted: Wanted) -> Option<usize> {
    let end = name_end(html, 1);
    match Tag::named(&html[1..end]) {
        Tag::Anchor => plain_anchor(html, end, &mut found.links),
        Tag::Link if wanted.follows(LinkKinds::Pages) => plain_relation(html, end, found),
        _ => None,
    }
}

/// That of `a` or `area`, whose name ends at `end`.
fn plain_anchor(html: &[u8], end: usize, links: &mut References) -> Option<usize> {
    let mut attributes = Attributes::new(html, end);
    let element = Element::of_anchor(&html[1..end]);
    let (mut href, mut rel) = (None, None);
    let mut alt = None;
    for attribute in &mut attributes {
        let kept = match attribute.name.len() {
            4 if attribute.name.eq_ignore_ascii_case(b"href") => &mut href,
            3 if attribute.name.eq_ignore_ascii_case(b"rel") => &mut rel,
            3 if element == Element::Area && attribute.name.eq_ignore_ascii_case(b"alt") => &mut alt,
            _ => continue,
        };
        if !attribute.is_plain() {
            return None;
        }
        kept.get_or_insert(attribute.value);
    }
    // A tag that the page ends in is none.
    let Some(length) = attributes.end() else { return Some(html.len()) };
    let number = links.offer(href, element, rel.is_some_and(is_nofollow));
    if let Some(number) = number.filter(|number| links.wants_label(*number)) {
        let text = match element {
            Element::Area => alt.map(anchor_text::of_value).unwrap_or_default(),
            _ => anchor_text::of_content(&html[length..]),
        };
        links.put_label(number, rel, &text);
    }
    Some(length)
}

/// That of `link`, whose name ends at `end`.
fn plain_relation(html: &[u8], end: usize, found: &mut Collected) -> Option<usize> {
    let mut attributes = Attributes::new(html, end);
    let mut tag = RelationTag::default();
    for attribute in &mut attributes {
        let is = |name: &[u8]| attribute.name.eq_ignore_ascii_case(name);
        let kept = match () {
            () if is(b"href") => &mut tag.href,
            () if is(b"rel") => &mut tag.rel,
            () if is(b"type") => &mut tag.media_type,
            () if is(b"hreflang") => &mut tag.language,
            () => continue,
        };
        if !attribute.is_plain() {
            return None;
        }
        kept.get_or_insert(attribute.value);
    }
    let Some(length) = attributes.end() else { return Some(html.len()) };
    tag.put_into(found);
    Some(length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::{
            collector::{collect, collect_from, collect_with_text},
            lines::{Deaf, ImageText, LineBuilder},
        },
        *,
    };
    const PAGES: Wanted = Wanted::Links(LinkKinds::PagesAndForms);
    const WANTED: [Wanted; 4] =
        [Wanted::Links(LinkKinds::Anchors), Wanted::Links(LinkKinds::Pages), PAGES, Wanted::Everything];

    /// Pieces that make up pages, and the spots where tokenizers go wrong.
    const PIECES: &str = r#"< > </ /> <!-- --> --!> <![CDATA[ ]]> <!doctype·x> <? = ' " &amp; & &lt;a # text ü -
        <a·href=1>
        <a·href <A·HREF='2'·rel=nofollow> </a> <a· href="3 <div·class=' <p/ </p> <br>
        <base·href=b/> <meta·name=robots·content=none> <meta·name=description·content=t>
        <html·lang=de> <title> </title> <script> </script> <script <style> </style <textarea> </textarea>
        <iframe·src=f> </iframe> <noframes> <plaintext>
        <svg> <svg/> </svg> <math> <mi> <title/> <foreignObject> </foreignObject> <style/>
        <img·src=i> <link·rel=stylesheet·href=s> <link·rel=next·href=l> <link·rel=canonical·href=c> <link·hreflang=de·rel=alternate·href=d> <LINK·rel='a·alternate·nofollow'·type=application/rss+xml·href="m
        <frame·src=5> <iframe·srcdoc·src=6> <meta·http-equiv=Refresh·content="0;7 <form·action=8> <form·method=post·action=9>
        <areaa·href=4> </x·a='>'>"#;

    fn soup() -> impl Strategy<Value = Vec<u8>> {
        let mut pieces: Vec<_> = PIECES.split_whitespace().map(|piece| piece.replace('·', " ")).collect();
        pieces.extend(["\0", "\r", "\r\n", "\n", "\t", " "].map(str::to_owned));
        prop::collection::vec(prop::sample::select(pieces), 0..40).prop_map(|pieces| pieces.concat().into_bytes())
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(b"<>/='\" a!-b&\r\0\xfc".to_vec()), 0..60)
    }

    /// Unwanted tags with hard attributes before wanted ones.
    fn tags() -> impl Strategy<Value = Vec<u8>> {
        let attributes = prop::collection::vec(prop::sample::select(b"=/>'\" \ra".to_vec()), 0..8);
        let tag = attributes.prop_map(|attributes| [b"<p ", &attributes[..], b"<a href=1><a href=2>"].concat());
        prop::collection::vec(tag, 1..4).prop_map(|tags| tags.concat())
    }

    /// Links with hard attributes.
    fn anchors() -> impl Strategy<Value = Vec<u8>> {
        let pieces =
            ["href", "HREF=", "rel=", "Rel", "=", "'", "\"", "x", "nofollow", " ", "/", ">", "&amp", "\r\n", "\0", "#"];
        let attributes = prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..12);
        let tag = attributes.prop_map(|attributes| format!("<A {}'\"><area href=1>", attributes.concat()).into_bytes());
        prop::collection::vec(tag, 1..4).prop_map(|tags| tags.concat())
    }

    /// Relations with hard attributes.
    fn relations() -> impl Strategy<Value = Vec<u8>> {
        let pieces = [
            "href",
            "HREF=",
            "rel=",
            "Rel",
            "type=",
            "hreflang=",
            "=",
            "'",
            "\"",
            "x",
            "next",
            "alternate",
            "canonical",
            " ",
            "/",
            ">",
            "&amp",
            "\r\n",
            "\0",
        ];
        let attributes = prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..12);
        let tag = attributes
            .prop_map(|attributes| format!("<Link {}'\"><link rel=prev href=1>", attributes.concat()).into_bytes());
        prop::collection::vec(tag, 1..4).prop_map(|tags| tags.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn passing_over_changes_nothing(html in prop_oneof![soup(), bytes(), tags(), anchors(), relations()]) {
            for wanted in WANTED {
                let plainly = RefCell::default();
                collect_from(html.to_reader(), &Attention::new(), wanted, &plainly, &mut Deaf);
                let found = collect(&html, wanted, References::default());
                prop_assert_eq!(format!("{found:?}"), format!("{:?}", plainly.into_inner()));
            }
        }

        #[test]
        fn listening_changes_nothing(html in prop_oneof![soup(), bytes(), tags(), anchors(), relations()]) {
            let (mut lines, plainly) = (LineBuilder::default(), RefCell::default());
            collect_from(html.to_reader(), &Attention::new(), PAGES, &plainly, &mut lines);
            let deaf = collect(&html, PAGES, References::default());
            let (found, text) = collect_with_text(&html, LinkKinds::PagesAndForms, ImageText::Nothing, References::default());
            prop_assert_eq!(format!("{found:?}"), format!("{deaf:?}"));
            prop_assert_eq!(format!("{found:?}"), format!("{:?}", plainly.into_inner()));
            // Where text is raw, the tokenizer would make another character of a NUL.
            prop_assert!(html.contains(&0) || text == lines.finish());
        }
    }

    /// The labels of a page's links, in their order.
    fn labels(found: &Collected) -> Vec<(Element, [String; 3])> {
        let labels = (0..).map_while(|number| found.links.label(number));
        labels.map(|label| (label.element, [label.rel, label.text, label.language].map(str::to_owned))).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]
        #[test]
        fn labels_change_nothing_and_are_the_same_with_the_text(html in prop_oneof![soup(), bytes(), tags(), anchors(), relations()]) {
            let plainly = collect(&html, PAGES, References::default());
            let found = collect(&html, PAGES, References::default().labelled());
            let (heard, _) = collect_with_text(&html, LinkKinds::PagesAndForms, ImageText::Nothing, References::default().labelled());
            prop_assert_eq!(format!("{found:?}"), format!("{plainly:?}"));
            prop_assert_eq!(labels(&found), labels(&heard));
            prop_assert!(labels(&plainly).is_empty());
        }
    }

    #[test]
    fn a_label_is_read_with_and_without_the_tokenizer() {
        for (html, rel, text) in [
            ("<a href=x rel='a b'>one <b>two</b></a>", "a b", "one two"),
            ("<a href='x&amp;' rel='a  b'>one <b>two</b></a>", "a b", "one two"),
            ("<a href=x rel=a></a><a href=x rel=b>later</a>", "a", "later"),
            ("<a href=x#1>first</a><a href=x#2>second</a>", "", "first"),
            ("<area href=x alt='a  name'>text", "", "a name"),
            ("<area href=x alt='a &amp; b'>text", "", "a & b"),
            ("<svg><a href=x><text>drawn</text></a></svg>", "", "drawn"),
        ] {
            let found = collect(html.as_bytes(), PAGES, References::default().labelled());
            let label = found.links.label(0).unwrap();
            assert_eq!((label.rel, label.text), (rel, text), "{html}");
            assert_eq!(label.element == Element::Area, html.starts_with("<area"), "{html}");
        }
    }

    fn unwanted(html: &str) -> Option<usize> {
        unwanted_tag(html.as_bytes(), Region::Markup, Wanted::Links(LinkKinds::Anchors))
    }

    #[test]
    fn finds_the_end_of_a_tag_as_the_state_machine_does() {
        for whole in [
            "<div>",
            "</a href='>'>",
            "<p a>",
            "<p a=\">\" b>",
            "<p a = '>' b>",
            "<p a=b\">",
            "<p ='>",
            "<p a'=\">\">",
            "<p/>",
            "<p / a=x/>",
            "<p a= >",
            "<p a\r=\r'>'>",
        ] {
            assert_eq!(unwanted(&format!("{whole}<a>'\">")), Some(whole.len()), "{whole}");
        }
    }

    #[test]
    fn an_unfinished_tag_takes_the_rest() {
        for whole in ["<div", "<div a", "<div a=", "<div a='>", "</x "] {
            assert_eq!(unwanted(whole), Some(whole.len()), "{whole}");
        }
    }

    #[test]
    fn leaves_what_matters_to_the_tokenizer() {
        for text in ["<a>", "<A>", "<svg", "<!-- -->", "<", "</", "</>", "< b>", "<?x>", "<base/>"] {
            assert_eq!(unwanted(text), None, "{text}");
        }
    }
}
