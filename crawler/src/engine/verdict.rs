//! What a visit's result means for its URL: a pure decision.

use std::time::Duration;

use super::visit::{Answer, Content};
use crate::{
    config::RetrySettings,
    fetch::{FetchError, RetryClass},
    store::VisitOutcome,
};

/// What becomes of a URL after a visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// This was its final answer.
    Final {
        /// What it came to.
        outcome: VisitOutcome,
        /// What went wrong, in one word.
        reason: Option<Box<str>>,
    },
    /// It is fetched again.
    Retry {
        /// After this pause.
        pause: Duration,
        /// What went wrong, in one word.
        reason: Box<str>,
    },
}

/// Decides on a result, `failures` fetches of the URL having failed before.
pub(super) fn decide(result: &Result<Answer, FetchError>, failures: u32, retry: &RetrySettings) -> Decision {
    let again = |reason: &str, asked: Option<Duration>| {
        (failures + 1 < retry.attempts).then(|| Decision::Retry {
            pause: back_off(retry.backoff, retry.max_backoff, failures).max(asked.unwrap_or_default()),
            reason: reason.into(),
        })
    };
    let last = |outcome, reason: Option<&str>| Decision::Final { outcome, reason: reason.map(Into::into) };
    match result {
        Err(error) => match error.class() {
            RetryClass::Transient | RetryClass::OwnMachine => again(error.name(), None),
            RetryClass::Permanent => None,
        }
        .unwrap_or_else(|| last(VisitOutcome::Failed, Some(error.name()))),
        Ok(answer) => match &answer.content {
            Content::Page(_) => match answer.truncated {
                Some(cut) if cut.may_pass() => again(cut.name(), None),
                _ => None,
            }
            .unwrap_or_else(|| last(VisitOutcome::Stored, None)),
            Content::Redirect(_) => last(VisitOutcome::Redirected, None),
            Content::Other(_) | Content::Errand { .. } => {
                let busy = is_passing(answer.status).then(|| again(&answer.status.to_string(), answer.retry_after));
                busy.flatten().unwrap_or_else(|| last(VisitOutcome::Broken, broken_reason(answer.status)))
            }
        },
    }
}

/// The pause after the (n+1)-th failure: doubled each time, up to `most`.
pub(super) fn back_off(first: Duration, most: Duration, failures: u32) -> Duration {
    first.saturating_mul(2_u32.saturating_pow(failures)).min(most)
}

/// Statuses of trouble that may pass: time-out, too early, too many requests, and the server's own.
fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504)
}

fn broken_reason(status: u16) -> Option<&'static str> {
    (300..400).contains(&status).then_some("redirect_without_target")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::{Cause, Truncation};

    const RETRY: RetrySettings =
        RetrySettings { attempts: 3, backoff: Duration::from_secs(2), max_backoff: Duration::from_secs(5) };

    fn answer(status: u16, truncated: Option<Truncation>) -> Answer {
        let page = Box::default();
        let content = if status == 200 { Content::Page(page) } else { Content::Other(page) };
        let retry_after = (status == 503).then_some(Duration::from_secs(30));
        Answer { status, retry_after, wire_bytes: 0, truncated, content }
    }

    fn pause(decision: &Decision) -> Option<u64> {
        match decision {
            Decision::Retry { pause, .. } => Some(pause.as_secs()),
            Decision::Final { .. } => None,
        }
    }

    #[test]
    fn passing_trouble_is_retried_to_a_stated_end() {
        let error = Err(FetchError::Connect(Cause::new("refused")));
        let pauses: Vec<_> = (0..3).map(|failures| pause(&decide(&error, failures, &RETRY))).collect();
        assert_eq!(pauses, [Some(2), Some(4), None]);
        assert_eq!(pause(&decide(&Ok(answer(503, None)), 0, &RETRY)), Some(30));
        assert_eq!(pause(&decide(&Ok(answer(404, None)), 0, &RETRY)), None);
    }

    #[test]
    fn a_body_cut_by_the_network_is_fetched_again_then_kept() {
        assert!(pause(&decide(&Ok(answer(200, Some(Truncation::Disconnect))), 0, &RETRY)).is_some());
        let kept = decide(&Ok(answer(200, Some(Truncation::Disconnect))), 2, &RETRY);
        assert_eq!(kept, Decision::Final { outcome: VisitOutcome::Stored, reason: None });
        assert_eq!(pause(&decide(&Ok(answer(200, Some(Truncation::Size))), 0, &RETRY)), None);
    }

    #[test]
    fn permanent_trouble_ends_at_once() {
        let refused = Err(FetchError::AddressRefused([10, 0, 0, 1].into()));
        let failed = Decision::Final { outcome: VisitOutcome::Failed, reason: Some("address".into()) };
        assert_eq!(decide(&refused, 0, &RETRY), failed);
    }
}
