//! [`Timed`]: a fetcher that notes how long requests take.

use std::time::Instant;

use prometheus::Histogram;

use crate::{
    fetch::{FetchFailure, FetchRequest, FetchResponse, Fetcher, resolve::HostAddresses},
    url::WebUrl,
};

/// What fetches, and notes how long that takes, where somebody reads it.
pub(crate) struct Timed<F> {
    fetcher: F,
    timings: Option<Histogram>,
}

impl<F> Timed<F> {
    pub(crate) fn new(fetcher: F, timings: Option<Histogram>) -> Self {
        Self { fetcher, timings }
    }
}

impl<F: Fetcher> Fetcher for Timed<F> {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        let Some(timings) = &self.timings else { return self.fetcher.fetch(request).await };
        let began = Instant::now();
        let fetched = self.fetcher.fetch(request).await;
        timings.observe(began.elapsed().as_secs_f64());
        fetched
    }

    fn look_up(&self, url: &WebUrl) -> impl Future<Output = HostAddresses> + Send {
        self.fetcher.look_up(url)
    }
}
