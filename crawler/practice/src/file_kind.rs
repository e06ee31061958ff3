//! [`FileKind`]: the types of files that are not HTML.

/// The type of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Css,
    Png,
    Text,
    Pdf,
}

impl FileKind {
    pub(super) const ALL: [Self; 4] = [Self::Css, Self::Png, Self::Text, Self::Pdf];

    /// The ending of its paths, with the dot.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Css => ".css",
            Self::Png => ".png",
            Self::Text => ".txt",
            Self::Pdf => ".pdf",
        }
    }
}
