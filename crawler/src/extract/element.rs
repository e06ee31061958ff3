//! [`Element`] and [`LinkKinds`]: where a link is, and which of them are links.

/// What a link was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// `a`
    Anchor,
    /// `area`
    Area,
    /// `frame`
    Frame,
    /// `iframe`
    InlineFrame,
    /// `meta http-equiv=refresh`
    Refresh,
    /// `link` with `rel=alternate`, `next` or `prev`
    Link,
    /// `link rel=alternate` of a feed, by its `type`
    Feed,
    /// `form` that is sent with GET
    Form,
    /// The header `Link` of the answer, with the relations of [`Element::Link`].
    Header,
    /// The header `Link`, with `rel=alternate` and the `type` of a feed.
    HeaderFeed,
    /// An entry of a sitemap.
    Sitemap,
    /// A sitemap that an index names.
    SitemapIndex,
    /// An entry of a feed.
    FeedEntry,
    /// Any other, in lists that hold no links to pages.
    Other,
    /// `img`
    Image,
    /// `source`
    Source,
    /// `script`
    Script,
    /// `link` with `rel=stylesheet`
    StyleSheet,
    /// `link` of another part of a page, such as an icon
    Part,
    /// `object`
    Object,
    /// `embed`
    Embed,
    /// `audio`
    Audio,
    /// `video`
    Video,
    /// `track`
    Track,
    /// `input` that is an image
    Input,
    /// `image` in SVG
    Drawing,
    /// `use` in SVG
    Use,
    /// `url()` in the styles of a page, or in a style sheet
    Style,
    /// `@import` there
    ImportedSheet,
}

/// What counts as a link of a page. Each one includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkKinds {
    /// `a` and `area`.
    Anchors,
    /// Also frames, refreshes, and `link` with `rel=alternate`, `next` or `prev`.
    Pages,
    /// Also forms that are sent with GET, with no field filled in.
    PagesAndForms,
}

impl Element {
    /// That of `a` or `area`, by its tag's name.
    pub(super) fn of_anchor(name: &[u8]) -> Self {
        if name.len() == 1 { Self::Anchor } else { Self::Area }
    }

    /// That of `frame` or `iframe`, by its tag's name.
    pub(super) fn of_frame(name: &[u8]) -> Self {
        if name.len() == 5 { Self::Frame } else { Self::InlineFrame }
    }

    /// That of what shows or loads something, by its tag's name.
    pub(super) fn of_part(name: &[u8]) -> Self {
        let parts = [
            Self::Image,
            Self::Source,
            Self::Script,
            Self::Object,
            Self::Embed,
            Self::Audio,
            Self::Video,
            Self::Track,
            Self::Input,
            Self::Drawing,
        ];
        let of_name = |part: &Self| name.eq_ignore_ascii_case(part.as_str().as_bytes());
        parts.into_iter().find(of_name).unwrap_or(Self::Other)
    }

    /// Its name in output: of an element that of its tag.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anchor => "a",
            Self::Area => "area",
            Self::Frame => "frame",
            Self::InlineFrame => "iframe",
            Self::Refresh => "meta",
            Self::Link | Self::Feed | Self::StyleSheet | Self::Part => "link",
            Self::Image => "img",
            Self::Source => "source",
            Self::Script => "script",
            Self::Object => "object",
            Self::Embed => "embed",
            Self::Audio => "audio",
            Self::Video => "video",
            Self::Track => "track",
            Self::Input => "input",
            Self::Drawing => "image",
            Self::Use => "use",
            Self::Style | Self::ImportedSheet => "style",
            Self::Form => "form",
            Self::Header | Self::HeaderFeed => "header",
            Self::Sitemap => "sitemap",
            Self::SitemapIndex => "sitemapindex",
            Self::FeedEntry => "feed",
            Self::Other => "other",
        }
    }

    /// Whether it shows or loads what it names.
    pub fn is_part(self) -> bool {
        matches!(
            self,
            Self::Image
                | Self::Source
                | Self::Script
                | Self::StyleSheet
                | Self::Part
                | Self::Object
                | Self::Embed
                | Self::Audio
                | Self::Video
                | Self::Track
                | Self::Input
                | Self::Drawing
                | Self::Use
                | Self::Style
                | Self::ImportedSheet
        )
    }

    /// Whether the page says that a feed is there.
    pub fn is_feed(self) -> bool {
        matches!(self, Self::Feed | Self::HeaderFeed)
    }
}
