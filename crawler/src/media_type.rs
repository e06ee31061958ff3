//! Media types, as `Content-Type` and settings name them.

/// A content type without its parameters, in lower case.
pub(crate) fn essence(content_type: &str) -> String {
    content_type.split([';', ',']).next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether one of these names is that of a type without parameters; `image/*` is that of every kind of image.
pub(crate) fn is_among(named: &[String], essence: &str) -> bool {
    named.iter().any(|named| match named.strip_suffix('*') {
        Some(kind) => essence.starts_with(kind),
        None => essence == *named,
    })
}

/// Whether an answer of this type is a style sheet.
pub(crate) fn is_style_sheet(content_type: Option<&str>) -> bool {
    content_type.is_some_and(|content_type| essence(content_type) == "text/css")
}
