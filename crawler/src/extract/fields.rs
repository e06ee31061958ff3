//! [`FieldRules`]: what is taken out of pages by CSS selectors, and the data that pages bring along for machines.
//!
//! Owns: how a rule is written, and what a field of a page is.
//!
//! Invariants: a value has a bounded length, whatever the page; a page whose tree is too large has no fields.
//!
//! Does not know: which pages are read, and where fields are kept.

use std::{cell::Cell, sync::Arc};

use regex::Regex;
use scraper::{ElementRef, Html, Selector};
use serde_json::{Map, Value};
use thiserror::Error;

use super::{SelectorError, base::Base, charset::decode, omitted::selector, tree};
use crate::url::WebUrl;

/// The longest value, in bytes.
const LONGEST_VALUE: usize = 64 * 1024;

/// The longest list.
const MOST_VALUES: usize = 10_000;

/// What the values of a page may take together, in bytes. What comes after that is null, or missing in its list.
const MOST_BYTES: usize = 1024 * 1024;

/// Bytes of text that are read of a page for all values.
const MOST_READ: usize = 64 * 1024 * 1024;

/// What is between the pattern of a rule and the rule.
const ARROW: &str = " => ";

/// The field with what pages say in JSON-LD.
const JSON_LD: &str = "json_ld";

/// The field with what pages say in the terms of `OpenGraph`.
const OPEN_GRAPH: &str = "opengraph";

/// One field.
#[derive(Debug, Clone)]
pub struct FieldRule {
    /// As it was given.
    written: Box<str>,
    /// The URLs that have it; all, if there is none.
    pattern: Option<Regex>,
    name: Box<str>,
    is_list: bool,
    selector: Selector,
    part: ElementPart,
}

/// What of an element is a value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ElementPart {
    /// Its text, white space collapsed.
    Text,
    /// What is inside, as HTML.
    Html,
    /// An attribute that is a URL, absolute.
    Url(Box<str>),
    /// Another attribute, as written.
    Attribute(Box<str>),
}

/// Why a rule cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FieldError {
    /// There is no name in front.
    #[error("there is no name in front of a \"=\": write NAME=CSS, NAME=CSS@ATTRIBUTE or NAME[]=CSS")]
    Name,
    /// The name is one of ours.
    #[error("{0} is what structured data is called: give another name")]
    Taken(Box<str>),
    /// The pattern in front of it is none.
    #[error("{0} is no regular expression")]
    Pattern(Box<str>),
    /// The selector is none.
    #[error(transparent)]
    Selector(#[from] SelectorError),
}

/// All fields of a crawl. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct FieldRules {
    rules: Arc<[FieldRule]>,
    /// Whether JSON-LD is one.
    json_ld: bool,
    /// Whether `OpenGraph` is one.
    open_graph: bool,
}

/// The fields of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct PageFields {
    /// An object, in JSON: by their names, in the order of the rules.
    pub json: Box<str>,
    /// Whether any was found.
    pub any: bool,
}

impl FieldRule {
    /// Reads `NAME=CSS`, `NAME=CSS@ATTRIBUTE` or `NAME[]=CSS`, with `REGEX => ` in front or without.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let (pattern, rule) =
            text.split_once(ARROW).map_or((None, text), |(pattern, rule)| (Some(pattern.trim()), rule));
        let pattern = pattern.map(|text| Regex::new(text).map_err(|_| FieldError::Pattern(text.into()))).transpose()?;
        let (name, css) = rule.split_once('=').ok_or(FieldError::Name)?;
        let (name, is_list) = name.trim().strip_suffix("[]").map_or((name.trim(), false), |name| (name, true));
        let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
        if name.is_empty() || !name.chars().all(is_letter) {
            return Err(FieldError::Name);
        }
        if [JSON_LD, OPEN_GRAPH].contains(&name) {
            return Err(FieldError::Taken(name.into()));
        }
        let (css, part) = ElementPart::split(css.trim());
        if has_costly_type(css) {
            return Err(SelectorError::Costly(css.into()).into());
        }
        Ok(Self { written: text.trim().into(), pattern, name: name.into(), is_list, selector: selector(css)?, part })
    }

    /// As it was given.
    pub fn written(&self) -> &str {
        &self.written
    }

    fn value(&self, page: &Page, room: &mut usize) -> Value {
        let mut found = page.html.select(&self.selector);
        if !self.is_list {
            let value = found.next().and_then(|element| self.part.of(element, page));
            return value.and_then(|value| fitting(value, room)).map_or(Value::Null, Value::String);
        }
        let values = found.filter_map(|element| self.part.of(element, page)).take(MOST_VALUES);
        values.map_while(|value| fitting(value, room)).map(Value::String).collect()
    }
}

impl ElementPart {
    /// What is behind the last `@`, if that is the name of an attribute.
    fn split(text: &str) -> (&str, Self) {
        let is_name = |name: &str| {
            !name.is_empty()
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | ':' | '.'))
        };
        match text.rsplit_once('@').filter(|(_, name)| is_name(name)) {
            Some((css, name)) => {
                let name = name.to_ascii_lowercase();
                let part = match &*name {
                    "html" => Self::Html,
                    "text" => Self::Text,
                    "href" | "src" => Self::Url(name.into()),
                    _ => Self::Attribute(name.into()),
                };
                (css.trim_end(), part)
            }
            None => (text, Self::Text),
        }
    }

    fn of(&self, element: ElementRef<'_>, page: &Page) -> Option<String> {
        match self {
            Self::Text => collapsed(element.text(), &page.left),
            Self::Html => Some(element.inner_html()),
            Self::Attribute(name) => element.attr(name).map(str::to_owned),
            Self::Url(name) => {
                let written = element.attr(name)?;
                Some(page.base.absolute(written).unwrap_or_else(|| written.to_owned()))
            }
        }
    }
}

impl FieldRules {
    /// These.
    pub fn new(rules: Vec<FieldRule>) -> Self {
        Self { rules: rules.into(), ..Self::default() }
    }

    /// The same with structured data.
    #[must_use]
    pub fn with_structured(self, json_ld: bool, open_graph: bool) -> Self {
        Self { json_ld, open_graph, ..self }
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &FieldRule> {
        self.rules.iter()
    }

    /// Whether no page has any field.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && !self.json_ld && !self.open_graph
    }

    /// The fields of a page; `None` where its URL has none, or its tree is [too large](tree::parse).
    pub fn read(&self, body: &[u8], content_type: Option<&str>, url: &WebUrl) -> Option<PageFields> {
        let is_of = |rule: &&FieldRule| rule.pattern.as_ref().is_none_or(|pattern| pattern.is_match(url.as_str()));
        let rules: Vec<_> = self.rules.iter().filter(is_of).collect();
        if rules.is_empty() && !self.json_ld && !self.open_graph {
            return None;
        }
        let text = decode(body, content_type, url);
        let page = Page::read(
            &String::from_utf8_lossy(&text.html),
            url,
            rules.iter().any(|rule| rule.part == ElementPart::Html),
        )?;
        let (mut values, mut room) = (Map::new(), MOST_BYTES);
        for rule in rules {
            // The first rule of a name that finds something counts: layouts differ.
            if values.get(&*rule.name).is_none_or(is_nothing) {
                values.insert(rule.name.to_string(), rule.value(&page, &mut room));
            }
        }
        if self.json_ld {
            values.insert(JSON_LD.to_owned(), page.json_ld(&mut room));
        }
        if self.open_graph {
            values.insert(OPEN_GRAPH.to_owned(), page.open_graph(&mut room));
        }
        let any = !values.values().all(is_nothing);
        Some(PageFields { json: Value::Object(values).to_string().into(), any })
    }
}

impl PageFields {
    /// Whether any was found of fields that were kept.
    pub fn is_any(json: &str) -> bool {
        serde_json::from_str::<Map<String, Value>>(json).is_ok_and(|values| !values.values().all(is_nothing))
    }
}

/// A page, and what its references are relative to.
struct Page {
    html: Html,
    base: Base,
    /// Bytes of text that may still be read: elements are within each other, and the text of each is read.
    left: Cell<usize>,
}

impl Page {
    /// Scripts do not run: what is for those who have none counts. `writes` says whether parts of it are written as HTML.
    fn read(html: &str, url: &WebUrl, writes: bool) -> Option<Self> {
        let mut html = tree::parse_without_scripts(html)?;
        if writes {
            tree::split_long(&mut html);
        }
        let base = selector("base[href]").ok()?;
        let href = html.select(&base).next().and_then(|element| element.attr("href"));
        let base = Base::of(href.map(str::as_bytes), url);
        Some(Self { html, base, left: Cell::new(MOST_READ) })
    }

    /// All that its scripts of that type hold, if they are JSON.
    fn json_ld(&self, room: &mut usize) -> Value {
        let Ok(scripts) = selector("script[type='application/ld+json' i]") else { return Value::Null };
        let texts = self.html.select(&scripts).map(|script| script.text().collect::<String>()).take(MOST_VALUES);
        let values = texts.filter(|text| text.len() <= LONGEST_VALUE).filter_map(|text| {
            let value = serde_json::from_str::<Value>(&text).ok()?;
            *room = room.checked_sub(text.len())?;
            Some(value)
        });
        values.collect()
    }

    /// The properties whose names begin with `og:`; one that is repeated is a list.
    fn open_graph(&self, room: &mut usize) -> Value {
        let Ok(metas) = selector("meta[property^='og:'][content]") else { return Value::Null };
        let mut properties = Map::new();
        for meta in self.html.select(&metas).take(MOST_VALUES) {
            let (Some(name), Some(content)) = (meta.attr("property"), meta.attr("content")) else { continue };
            let Some(content) = fitting(content.to_owned(), room).map(Value::String) else { break };
            match properties.get_mut(name) {
                None => drop(properties.insert(name.to_owned(), content)),
                Some(Value::Array(values)) => values.push(content),
                Some(one) => *one = Value::Array(vec![one.take(), content]),
            }
        }
        Value::Object(properties)
    }
}

/// Whether a selector counts elements of a type that it does not name: for each of them it would look at all before it.
fn has_costly_type(css: &str) -> bool {
    css.match_indices("-of-type").any(|(end, _)| {
        let before = &css[..end];
        let compound = before.rfind([' ', '>', '+', ',', '(']).map_or(before, |start| &before[start + 1..]);
        !compound.starts_with(|letter: char| letter.is_ascii_alphabetic())
    })
}

/// A value within its limit, if there is room for it.
fn fitting(mut value: String, room: &mut usize) -> Option<String> {
    value.truncate(value.floor_char_boundary(LONGEST_VALUE));
    *room = room.checked_sub(value.len())?;
    Some(value)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(values) => values.is_empty(),
        _ => false,
    }
}

/// Texts with their white space collapsed, the white space of Unicode, as far as a page may still be read.
fn collapsed<'a>(texts: impl Iterator<Item = &'a str>, left: &Cell<usize>) -> Option<String> {
    let mut all = String::new();
    for text in texts {
        left.set(left.get().checked_sub(text.len())?);
        all.push_str(text);
        if all.len() > 4 * LONGEST_VALUE {
            break;
        }
    }
    Some(all.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<!doctype html><base href=/shop/><title>t</title>\
        <script type='application/ld+json'>{\"@type\": \"Product\", \"name\": \"A\"}</script>\
        <script type='application/LD+json'>[1, 2]</script><script type=application/ld+json>{no}</script>\
        <meta property=og:title content='A &amp; B'><meta property=og:image content=1><meta property=og:image content=2>\
        <h1> A\u{a0}\u{2003}<b>&amp;\n B</b></h1><p class='price new' data-cents=1299>12,99\u{a0}\u{20ac}</p>\
        <ul><li><a href=a?x=1#y>one</a><li><a href='//h2/b'>two</a><li><a>three</a><li><a href=' HTTP://h3 '>four</a></ul><img src=' i.png '>\
        <noscript><p class=plain>no script</p></noscript>";

    fn fields(rules: &[&str], html: &str) -> Value {
        let rules = rules.iter().map(|rule| FieldRule::parse(rule).unwrap()).collect();
        let url = WebUrl::parse("http://h/p/1").unwrap();
        let read = FieldRules::new(rules).read(html.as_bytes(), Some("text/html; charset=utf-8"), &url);
        read.map_or(Value::Null, |fields| serde_json::from_str(&fields.json).unwrap())
    }

    #[test]
    fn values_are_texts_attributes_urls_html_and_lists() {
        let rules = [
            "title=h1",
            "inside=h1@html",
            "cents=.price@data-cents",
            "price = p.price",
            "none=.absent",
            "links[]=li a@href",
            "items[]=li",
            "nothing[]=.absent",
            "image=img@SRC",
            "plain=noscript .plain",
            "attribute=a[href*='@x'], img@src",
        ];
        let expected = serde_json::json!({
            "title": "A & B", "inside": " A&nbsp;\u{2003}<b>&amp;\n B</b>", "cents": "1299", "price": "12,99 \u{20ac}", "none": null,
            "links": ["http://h/shop/a?x=1#y", "http://h2/b", "HTTP://h3"], "items": ["one", "two", "three", "four"], "nothing": [],
            "image": "http://h/shop/i.png", "plain": "no script", "attribute": "http://h/shop/i.png",
        });
        let found = fields(&rules, PAGE);
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(found[name], *value, "{name}");
        }
    }

    #[test]
    fn structured_data_is_read_where_it_is_wanted() {
        let url = WebUrl::parse("http://h/").unwrap();
        let rules = FieldRules { json_ld: true, open_graph: true, ..FieldRules::default() };
        let found = rules.read(PAGE.as_bytes(), Some("text/html"), &url).unwrap();
        let values: Value = serde_json::from_str(&found.json).unwrap();
        assert_eq!(values[JSON_LD], serde_json::json!([{ "@type": "Product", "name": "A" }, [1, 2]]));
        assert_eq!(values[OPEN_GRAPH], serde_json::json!({ "og:title": "A & B", "og:image": ["1", "2"] }));
        let none = rules.read(b"<p>x", Some("text/html"), &url).unwrap();
        assert!(found.any && !none.any && PageFields::is_any(&found.json) && !PageFields::is_any(&none.json));
        assert!(FieldRules::default().read(b"<p>x", None, &url).is_none());
    }

    #[test]
    fn a_rule_may_be_for_some_urls_and_the_first_that_finds_something_counts() {
        assert_eq!(fields(&["/q/ => a=p"], "<p>x"), Value::Null);
        assert_eq!(fields(&["/q/ => a=p", "/p/\\d+$ => b=p"], "<p>x"), serde_json::json!({ "b": "x" }));
        assert_eq!(fields(&["a=.new", "a=.old", "a=p"], "<p class=old>x<p>y"), serde_json::json!({ "a": "x" }));
    }

    #[test]
    fn what_a_page_may_take_is_bounded() {
        let long = "x ".repeat(LONGEST_VALUE);
        let found = fields(&["a=p", "all[]=b"], &format!("<p>{long}</p>{}", "<b>y</b>".repeat(2 * MOST_VALUES)));
        assert_eq!(found["a"].as_str().unwrap().len(), LONGEST_VALUE);
        assert_eq!(found["all"].as_array().unwrap().len(), MOST_VALUES);
        let many = fields(&["all[]=p", "last=i"], &(format!("<p>{long}</p>").repeat(20) + "<i>1</i>"));
        assert_eq!((many["all"].as_array().unwrap().len(), &many["last"]), (MOST_BYTES / LONGEST_VALUE, &Value::Null));
        assert_eq!(fields(&["a=p"], &"<div>".repeat(100_000)), Value::Null, "its tree is too deep");
        let nested = format!("{}{}<p>x", "<div>".repeat(400), " ".repeat(LONGEST_VALUE * 4));
        let read = fields(&["all[]=div", "p=p:first-of-type"], &nested);
        assert!(read["all"].as_array().unwrap().len() < 300 && read["p"] == "x", "no more was read for the list");
        assert_eq!(fields(&["a=.absent", "a=p@html", "b=p"], "<p>x")["b"], "x");
    }

    #[test]
    fn a_slip_is_named() {
        for (rule, error) in [
            ("price", "no name"),
            ("=p", "no name"),
            ("a b=p", "no name"),
            ("a=p[", "no"),
            ("a=", "no"),
            ("a=p ~ b", "too long"),
            ("a=.x:first-of-type", "too long"),
            ("( => a=p", "no regular expression"),
            ("json_ld=p", "another name"),
        ] {
            let found = FieldRule::parse(rule).unwrap_err().to_string();
            assert!(found.contains(error), "{rule}: {found}");
        }
    }
}
