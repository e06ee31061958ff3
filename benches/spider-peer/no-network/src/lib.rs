//! Takes the place of `reqwest` 0.12 in the build script of `spider_fingerprint`: every request fails.

/// The part of `reqwest::blocking` that the build script names.
pub mod blocking {
    use std::io::{Error, ErrorKind, Result};

    /// There is none.
    #[derive(Debug)]
    pub enum Response {}

    impl Response {
        /// Never called.
        ///
        /// # Errors
        ///
        /// None: there is no response.
        pub fn json<T>(self) -> Result<T> {
            match self {}
        }
    }

    /// Asks nobody.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn get(url: &str) -> Result<Response> {
        Err(Error::new(ErrorKind::Unsupported, format!("{url} is not asked for: a build reaches no network")))
    }
}
