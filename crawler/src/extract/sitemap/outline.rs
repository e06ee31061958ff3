//! [`Outline`]: records and their fields, in tags that may not match.

use std::mem;

use quick_xml::events::BytesStart;

use super::elements::{XmlName, resolved};

/// What a kind of document calls its parts, and what becomes of them.
pub(super) trait Vocabulary {
    /// What is read of a record.
    type Field: Copy;

    /// Whether an element is a record: an entry with all that is said of it.
    fn is_record(&self, name: XmlName<'_>) -> bool;

    /// Which field an element is. Any other is left out with all that is in it.
    fn field(&self, name: XmlName<'_>) -> Option<Self::Field>;

    /// A record begins. The one before it has ended.
    fn begin(&mut self, tag: &BytesStart<'_>);

    /// A field begins. Whether its text is wanted too.
    fn attributes(&mut self, field: Self::Field, tag: &BytesStart<'_>) -> bool;

    /// A field has ended.
    fn value(&mut self, field: Self::Field, text: &FieldText);

    /// A record ends, with the text that is in it but in no field.
    fn end(&mut self, text: &FieldText);
}

/// The text of an element while it is read.
#[derive(Debug, Default)]
pub(super) struct FieldText {
    text: String,
    /// It has references whose meaning is not known. They stay as they are.
    pub(super) has_unknown: bool,
}

impl FieldText {
    pub(super) fn trimmed(&self) -> &str {
        self.text.trim_end()
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Leading white space is dropped at once, so that it costs nothing to see that there is nothing else.
    fn push(&mut self, text: &str) {
        self.text.push_str(if self.is_empty() { text.trim_start() } else { text });
    }

    fn refer(&mut self, name: &str) {
        if let Some(known) = resolved(name) {
            self.push(&known);
        } else {
            self.has_unknown = true;
            self.text.extend(["&", name, ";"]);
        }
    }
}

/// A field that has not ended.
#[derive(Debug)]
struct OpenField<F> {
    field: F,
    text: FieldText,
    /// Elements within it that have not ended.
    inner: usize,
}

/// Elements that are left out.
#[derive(Debug)]
struct LeftOut {
    name: String,
    /// How many elements of this name are in each other.
    depth: usize,
}

/// Where in a document the reader is.
///
/// A field ends with its first tag after some text, whatever the tag's name. A record ends with its end tag, or where the next begins; both
/// also end what is left out.
#[derive(Debug)]
pub(super) struct Outline<V: Vocabulary> {
    vocabulary: V,
    in_record: bool,
    field: Option<OpenField<V::Field>>,
    /// The text of the record that is in no field.
    bare: FieldText,
    left_out: Option<LeftOut>,
}

impl<V: Vocabulary> Outline<V> {
    pub(super) fn of(vocabulary: V) -> Self {
        Self { vocabulary, in_record: false, field: None, bare: FieldText::default(), left_out: None }
    }

    pub(super) fn open(&mut self, tag: &BytesStart<'_>) {
        let name = XmlName::of(tag.name().into_inner());
        if self.is_within_field(name) {
            return;
        }
        self.end_field();
        if self.vocabulary.is_record(name) {
            self.end_record();
            self.in_record = true;
            self.vocabulary.begin(tag);
        } else if let Some(left_out) = &mut self.left_out {
            left_out.depth += usize::from(left_out.name == tag.name().into_inner());
        } else {
            self.open_field(tag, name);
        }
    }

    /// Counts a tag that begins in a field without text, and is no field itself. Some put an URL into one element more.
    fn is_within_field(&mut self, name: XmlName<'_>) -> bool {
        let is_field = self.vocabulary.field(name).is_some();
        let within = self.field.as_mut().filter(|open| open.text.is_empty() && !is_field);
        within.map(|open| open.inner += 1).is_some()
    }

    fn open_field(&mut self, tag: &BytesStart<'_>, name: XmlName<'_>) {
        let field = self.vocabulary.field(name);
        match field.filter(|field| self.vocabulary.attributes(*field, tag)) {
            Some(field) => self.field = Some(OpenField { field, text: FieldText::default(), inner: 0 }),
            None => self.left_out = Some(LeftOut { name: tag.name().into_inner().to_owned(), depth: 1 }),
        }
    }

    pub(super) fn close(&mut self, name: &str) {
        if let Some(open) = &mut self.field {
            let is_inner = open.inner > 0;
            open.inner = open.inner.saturating_sub(1);
            if !open.text.is_empty() || !is_inner {
                self.end_field();
            }
            if is_inner {
                return;
            }
        }
        if self.vocabulary.is_record(XmlName::of(name)) {
            self.end_record();
        } else if let Some(left_out) = &mut self.left_out {
            left_out.depth -= usize::from(left_out.name == name);
            if left_out.depth == 0 {
                self.left_out = None;
            }
        }
    }

    /// The document ends in an end tag. What is before it is whole.
    pub(super) fn close_cut(&mut self) {
        if self.field.as_ref().is_some_and(|open| !open.text.is_empty()) {
            self.end_field();
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        if let Some(into) = self.text_of() {
            into.push(text);
        }
    }

    /// A reference (`&name;`).
    pub(super) fn refer(&mut self, name: &str) {
        if let Some(into) = self.text_of() {
            into.refer(name);
        }
    }

    fn text_of(&mut self) -> Option<&mut FieldText> {
        match &mut self.field {
            Some(open) => Some(&mut open.text),
            None => Some(&mut self.bare).filter(|_| self.in_record && self.left_out.is_none()),
        }
    }

    fn end_field(&mut self) {
        if let Some(open) = self.field.take() {
            self.vocabulary.value(open.field, &open.text);
        }
    }

    fn end_record(&mut self) {
        self.left_out = None;
        let bare = mem::take(&mut self.bare);
        if mem::take(&mut self.in_record) {
            self.vocabulary.end(&bare);
        }
    }
}
