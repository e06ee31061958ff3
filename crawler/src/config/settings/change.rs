//! `[change]`.

use std::{marker::PhantomData, num::NonZeroU32, time::Duration};

use crate::{
    changes::Ignore,
    config::{
        reader::KeyReader,
        rules::{Count, DurationRange, Each, OneOf, Parsed, Real, words},
    },
    extract::{ImageText, Omitted},
};

/// More texts of a page than anybody compares.
const MOST_TEXTS: NonZeroU32 = NonZeroU32::new(100).expect("it is not zero");

/// A rule for what is no part of a page's text.
const IGNORE: Each<String> =
    Each(Parsed { allowed: "css:SELECTOR, re:REGEX, before:TEXT or after:TEXT", parse: ignore_rule });

words! {
    /// Whether the text of pages is kept.
    TextChoice {
        /// In a crawl that is watched.
        Auto = "auto",
        /// Always.
        On = "on",
        /// Never.
        Off = "off",
    }
}

words! {
    /// What images say in the text of pages.
    ImagesChoice {
        /// Nothing.
        Off = "off",
        /// What is shown in their place.
        Alt = "alt",
        /// The same, and where they are.
        Source = "source",
    }
}

/// What counts as a change.
#[derive(Debug, Clone)]
pub struct ChangeSettings {
    /// Whether the text of pages is kept.
    pub text: TextChoice,
    /// Texts of a page that are kept.
    pub texts: NonZeroU32,
    /// What images say in the text.
    pub images: ImagesChoice,
    /// Rules for what is no part of a page's text.
    ignore: Vec<String>,
    /// Time to the second look at a page that lost most of its text.
    pub confirm: Duration,
    /// The same at one that is not there any more.
    pub gone_after: Duration,
    /// Share of the pages of a section that may change at once, 0 to 1; 1 is no limit.
    pub mass_share: f64,
    /// Share of the requests that second looks may add, by which what moves by itself is found; 0 is none.
    pub confirm_share: f64,
    /// Pages with the same edit that make it a site-wide one; 0 is never.
    pub site_wide_pages: u32,
}

impl ChangeSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        let pause = DurationRange(Duration::ZERO..=Duration::from_hours(365 * 24));
        Self {
            text: reader.read("change.text", &OneOf(PhantomData)),
            texts: reader.read("change.texts", &Count(NonZeroU32::MIN..=MOST_TEXTS)),
            images: reader.read("change.images", &OneOf(PhantomData)),
            ignore: reader.read("change.ignore", &IGNORE),
            confirm: reader.read("change.confirm", &pause),
            gone_after: reader.read("change.gone_after", &pause),
            mass_share: reader.read("change.mass_share", &Real(0.0..=1.0)),
            confirm_share: reader.read("change.confirm_share", &Real(0.0..=1.0)),
            site_wide_pages: reader.read("change.site_wide_pages", &Count(0..=1_000_000)),
        }
    }
}

impl ChangeSettings {
    /// What of a text is not compared.
    pub fn ignored(&self) -> Ignore {
        Ignore::parse(&self.ignore).expect("each rule was checked")
    }

    /// Elements that are no part of a page's text, and what images say in it.
    pub fn omitted(&self) -> Omitted {
        let selectors: Vec<_> = self.ignored().selectors().map(str::to_owned).collect();
        let images = match self.images {
            ImagesChoice::Off => ImageText::Nothing,
            ImagesChoice::Alt => ImageText::Alt,
            ImagesChoice::Source => ImageText::Source,
        };
        Omitted::parse(&selectors).expect("each selector was checked").with_images(images)
    }
}

fn ignore_rule(text: &str) -> Result<String, String> {
    let ignore = Ignore::parse(&[text.to_owned()]).map_err(|error| error.to_string())?;
    let selectors: Vec<_> = ignore.selectors().collect();
    Omitted::parse(&selectors).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}
