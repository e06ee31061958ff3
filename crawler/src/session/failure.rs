//! [`CommandFailure`]: why a command failed.

use std::process::ExitCode;

use thiserror::Error;

use crate::{
    config::ConfigFaults,
    engine::EngineError,
    fetch::http::SetupError,
    store::{ReadError, StoreError},
};

/// Why a command failed; it knows its exit code.
#[derive(Debug, Error)]
pub enum CommandFailure {
    /// The arguments make no sense together.
    #[error("{0}")]
    Usage(String),
    /// Settings.
    #[error("{0}")]
    Config(#[from] ConfigFaults),
    /// The crawl directory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The fetcher cannot be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A run that had begun failed.
    #[error(transparent)]
    Run(#[from] EngineError),
    /// The system refuses something.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: std::io::Error,
    },
    /// It was asked to stop, by a signal of this number, before its first request.
    #[error("stopped while it was starting; everything fetched before is kept")]
    Interrupted(i32),
    /// What is there cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl CommandFailure {
    /// 2 for what is decided before the first request, 128 and its number for a signal, 1 for the rest.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code())
    }

    /// The same as a number.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Usage(_)
            | Self::Config(_)
            | Self::Store(_)
            | Self::Setup(_)
            | Self::Run(EngineError::Setup(_) | EngineError::Store(StoreError::OtherItems { .. })) => 2,
            Self::Interrupted(signal) => 128 + u8::try_from(*signal).unwrap_or_default(),
            Self::Run(_) | Self::System { .. } | Self::Read(_) => 1,
        }
    }

    /// The same of a session that was asked to stop, if it was.
    pub(super) fn of(self, stopped: Option<i32>) -> Self {
        match (self, stopped) {
            (
                Self::Store(StoreError::Interrupted) | Self::Run(EngineError::Store(StoreError::Interrupted)),
                Some(signal),
            ) => Self::Interrupted(signal),
            (failure, _) => failure,
        }
    }

    /// An error of the system while doing `what`.
    pub(crate) fn system(what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
