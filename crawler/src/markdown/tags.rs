//! [`Tag`] and [`Attr`]: the names of elements and attributes that matter, and what kind of element each is.

macro_rules! names {
    ($(#[$doc:meta])* $kind:ident { $($variant:ident $name:literal),* $(,)? } else { $($other:ident),* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum $kind { $($variant,)* $($other,)* }

        impl $kind {
            /// The one with this name in lower case, as it is in a page.
            pub(super) fn named(name: &[u8]) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

names! {
    /// The name of an element. Those that are not listed are all `Other`; the nodes of a text and of the page have names of their own.
    Tag {
        A b"a", Div b"div", Span b"span", Li b"li", P b"p", Code b"code", Td b"td", Tr b"tr", Img b"img", Ul b"ul", Br b"br", Strong b"strong",
        Em b"em", B b"b", I b"i", H1 b"h1", H2 b"h2", H3 b"h3", H4 b"h4", H5 b"h5", H6 b"h6", Section b"section", Script b"script", Svg b"svg",
        Path b"path", Link b"link", Meta b"meta", Pre b"pre", Dd b"dd", Dt b"dt", Dl b"dl", Th b"th", Table b"table", Tbody b"tbody",
        Thead b"thead", Tfoot b"tfoot", Ol b"ol", Button b"button", Input b"input", Label b"label", Nav b"nav", Header b"header",
        Footer b"footer", Aside b"aside", Article b"article", Main b"main", Figure b"figure", Figcaption b"figcaption", Picture b"picture",
        Source b"source", Style b"style", Noscript b"noscript", Template b"template", Iframe b"iframe", Form b"form", Select b"select",
        Option b"option", Textarea b"textarea", Title b"title", Html b"html", Head b"head", Body b"body", Base b"base", Hr b"hr",
        Blockquote b"blockquote", Details b"details", Summary b"summary", Sup b"sup", Sub b"sub", Kbd b"kbd", Samp b"samp", Tt b"tt",
        Var b"var", Cite b"cite", Caption b"caption", Colgroup b"colgroup", Col b"col", Wbr b"wbr", Area b"area", Embed b"embed",
        Object b"object", Param b"param", Track b"track", Video b"video", Audio b"audio", Canvas b"canvas", Math b"math",
        Annotation b"annotation", Dialog b"dialog", Fieldset b"fieldset", Address b"address", Center b"center", Hgroup b"hgroup",
        Menu b"menu", Dir b"dir", Search b"search", Xmp b"xmp", Plaintext b"plaintext", Listing b"listing", Noembed b"noembed",
        Noframes b"noframes", Datalist b"datalist", Map b"map",
    } else { Other, Text, Page }
}

names! {
    /// The name of an attribute that is kept.
    Attr {
        Class b"class", Href b"href", Id b"id", Src b"src", Style b"style", Alt b"alt", Name b"name", Role b"role", Hidden b"hidden",
        AriaHidden b"aria-hidden", AriaLabel b"aria-label", Lang b"lang", DataSrc b"data-src", DataOriginal b"data-original",
        DataLazySrc b"data-lazy-src", DataLang b"data-lang", DataLanguage b"data-language", Itemprop b"itemprop", Colspan b"colspan",
        Rowspan b"rowspan", Start b"start", Content b"content", Property b"property", Open b"open", Encoding b"encoding",
        Rel b"rel", Type b"type",
    } else {}
}

impl Tag {
    /// 1 to 6 for a heading.
    pub(super) fn heading(self) -> Option<u8> {
        Some(match self {
            Self::H1 => 1,
            Self::H2 => 2,
            Self::H3 => 3,
            Self::H4 => 4,
            Self::H5 => 5,
            Self::H6 => 6,
            _ => return None,
        })
    }

    /// Whether it never has content.
    pub(super) fn is_void(self) -> bool {
        use Tag::{Area, Base, Br, Col, Embed, Hr, Img, Input, Link, Meta, Param, Source, Track, Wbr};
        matches!(self, Area | Base | Br | Col | Embed | Hr | Img | Input | Link | Meta | Param | Source | Track | Wbr)
    }

    /// Whether its start ends an open paragraph.
    pub(super) fn ends_paragraph(self) -> bool {
        use Tag::{
            Address, Article, Aside, Blockquote, Center, Dd, Details, Dialog, Dir, Div, Dl, Dt, Fieldset, Figcaption,
            Figure, Footer, Form, Header, Hgroup, Hr, Li, Listing, Main, Menu, Nav, Ol, P, Plaintext, Pre, Search,
            Section, Summary, Table, Ul, Xmp,
        };
        self.heading().is_some()
            || matches!(
                self,
                Address
                    | Article
                    | Aside
                    | Blockquote
                    | Center
                    | Dd
                    | Details
                    | Dialog
                    | Dir
                    | Div
                    | Dl
                    | Dt
                    | Fieldset
                    | Figcaption
                    | Figure
                    | Footer
                    | Form
                    | Header
                    | Hgroup
                    | Hr
                    | Li
                    | Listing
                    | Main
                    | Menu
                    | Nav
                    | Ol
                    | P
                    | Plaintext
                    | Pre
                    | Search
                    | Section
                    | Summary
                    | Table
                    | Ul
                    | Xmp
            )
    }

    /// Whether it is apart from the text around it.
    pub(super) fn is_block(self) -> bool {
        use Tag::{Body, Caption, Html, Page, Td, Th, Tr};
        self.ends_paragraph() || self.is_row_group() || matches!(self, Body | Caption | Html | Page | Td | Th | Tr)
    }

    /// Whether it is only a part of a table.
    pub(super) fn is_in_table(self) -> bool {
        self.is_row_group()
            || matches!(self, Self::Tr | Self::Td | Self::Th | Self::Caption | Self::Colgroup | Self::Col)
    }

    /// Whether it holds rows of a table.
    pub(super) fn is_row_group(self) -> bool {
        matches!(self, Self::Tbody | Self::Thead | Self::Tfoot)
    }

    /// Whether it only changes how its text looks, or makes it a link: where blocks in it go on after its end, they are opened anew.
    pub(super) fn is_formatting(self) -> bool {
        use Tag::{A, B, Code, Em, I, Kbd, Label, Samp, Span, Strong, Sub, Sup, Tt, Var};
        matches!(self, A | B | Code | Em | I | Kbd | Label | Samp | Span | Strong | Sub | Sup | Tt | Var)
    }

    /// Whether end tags outside do not reach into it, nor those inside out of it.
    pub(super) fn is_barrier(self) -> bool {
        matches!(
            self,
            Self::Table | Self::Td | Self::Th | Self::Caption | Self::Object | Self::Template | Self::Body | Self::Page
        )
    }

    /// Whether it may stand in the head of a page.
    pub(super) fn is_metadata(self) -> bool {
        use Tag::{Base, Head, Html, Link, Meta, Noframes, Noscript, Script, Style, Template, Title};
        matches!(self, Base | Head | Html | Link | Meta | Noframes | Noscript | Script | Style | Template | Title)
    }

    /// Whether browsers show none of its text, or only what is no part of the text around it.
    pub(super) fn shows_nothing(self) -> bool {
        use Tag::{
            Annotation, Audio, Canvas, Datalist, Embed, Head, Iframe, Input, Noembed, Noframes, Object, Script, Select,
            Style, Svg, Template, Textarea, Title, Video,
        };
        matches!(
            self,
            Annotation
                | Audio
                | Canvas
                | Datalist
                | Embed
                | Head
                | Iframe
                | Input
                | Noembed
                | Noframes
                | Object
                | Script
                | Select
                | Style
                | Svg
                | Template
                | Textarea
                | Title
                | Video
        )
    }
}
