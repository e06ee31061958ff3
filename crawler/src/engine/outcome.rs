//! What a visit's result means for its URL and for its host: pure decisions.
//!
//! Invariants: a failure that may pass is retried, up to a stated number of attempts; the fault of a host costs its URL no attempt; a URL
//! that is charged late has one attempt less.
//!
//! Does not know: whose fault a failure is (the frontier does).

use std::time::Duration;

use super::report::{Content, KeptResponse};
use crate::{
    config::RetrySettings,
    fetch::{FetchError, Method},
    frontier::{Asked, Blame, FailedFetch, WorkItem},
    health::FailureCause,
    purpose::Purpose,
    store::{Counters, VisitOutcome},
    time::Moment,
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
    /// It is fetched again after this pause.
    Retry {
        /// How long.
        pause: Duration,
        /// What it has cost by now.
        attempts: u32,
        /// What went wrong, in one word.
        reason: Box<str>,
    },
}

/// Who may answer to GET as it does not to HEAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadRefusal {
    /// This URL.
    OfUrl,
    /// Each URL of the host.
    OfHost,
    /// The same, if the host has no trouble.
    Perhaps,
}

/// What a result says of its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// The host answers.
    Answer,
    /// It answers, and forbids the URL: with many of these in a row, the host may be to blame.
    Forbidden(FailedFetch),
    /// There was no answer, or one for which the host may be to blame.
    Nothing(FailedFetch),
    /// It says nothing of the host.
    Neither,
}

impl Heard {
    /// Whether something answered.
    pub(super) fn is_sign_of_life(self) -> bool {
        match self {
            Self::Answer | Self::Forbidden(_) => true,
            Self::Nothing(failure) => failure.cause.is_sign_of_life(),
            Self::Neither => false,
        }
    }
}

/// Decides on a result, `failures` fetches of the URL having failed before by its own fault; `fault` is whose the one before
/// was, where the host may be to blame. What a URL is charged for one failure late ends with one attempt less, so that it is
/// fetched `retry.attempts` times in any case.
pub(super) fn decide(
    result: &Result<KeptResponse, FetchError>,
    fault: Option<Blame>,
    failures: u32,
    retry: &RetrySettings,
) -> Decision {
    let again = |reason: &str, asked: Option<Duration>| {
        let charged = matches!(fault, None | Some(Blame::Url));
        let attempts = failures + u32::from(charged);
        let most = if fault.is_some() { retry.attempts.saturating_sub(1).max(1) } else { retry.attempts };
        // Where the host may be to blame it is the host that is left alone for the pause it asks for.
        let asked = asked.filter(|_| fault.is_none());
        (!charged || attempts < most).then(|| Decision::Retry {
            pause: back_off(retry.backoff, retry.max_backoff, failures).max(asked.unwrap_or_default()),
            attempts,
            reason: reason.into(),
        })
    };
    let last = |outcome, reason: Option<&str>| Decision::Final { outcome, reason: reason.map(Into::into) };
    match result {
        Err(error) if fault.is_some() || error.may_pass() => {
            again(error.name(), None).unwrap_or_else(|| last(VisitOutcome::Failed, Some(error.name())))
        }
        Err(error) => last(VisitOutcome::Failed, Some(error.name())),
        Ok(answer) => match &answer.content {
            Content::Page(_) => match answer.truncated {
                Some(cut) if cut.may_pass() => again(cut.name(), None),
                _ => None,
            }
            .unwrap_or_else(|| last(VisitOutcome::Stored, None)),
            Content::NotModified(_) => last(VisitOutcome::Stored, None),
            Content::Redirect(_) => last(VisitOutcome::Redirected, None),
            Content::Other(_) | Content::Robots { .. } | Content::Addresses(_) => {
                let may_pass = is_passing(answer.status) || fault.is_some();
                let busy = may_pass.then(|| again(&answer.status.to_string(), answer.retry_after));
                busy.flatten().unwrap_or_else(|| last(VisitOutcome::Broken, broken_reason(answer)))
            }
        },
    }
}

/// The failure that is held against a URL which failed `at` a moment, until it fails once more; the epoch where none is.
pub(super) fn held(fault: Option<Blame>, item: &WorkItem, at: Moment) -> Moment {
    match fault {
        // What is charged already is not charged once more.
        None => Moment::EPOCH,
        Some(Blame::Host) => item.failed.unwrap_or_default(),
        Some(Blame::Unknown | Blame::Url) => at,
    }
}

/// What a result says of its host.
pub(super) fn failure(result: &Result<KeptResponse, FetchError>) -> Heard {
    match result {
        Err(error) => match error.cause() {
            // Nothing but a new log-in helps.
            Some(cause @ FailureCause::LogIn) => {
                Heard::Nothing(FailedFetch { cause, retry_after: Some(Duration::MAX) })
            }
            Some(cause) => Heard::Nothing(FailedFetch { cause, retry_after: None }),
            None => Heard::Neither,
        },
        Ok(answer) if is_of_the_host(answer.status) => {
            Heard::Nothing(FailedFetch { cause: FailureCause::Status(answer.status), retry_after: answer.retry_after })
        }
        Ok(answer) if matches!(answer.status, 401 | 403) => {
            Heard::Forbidden(FailedFetch { cause: FailureCause::Status(answer.status), retry_after: None })
        }
        Ok(_) => Heard::Answer,
    }
}

/// How a URL is asked for of which only the answer counts: with HEAD, until that brought none.
pub(super) fn method(item: &WorkItem) -> Method {
    let reads = item.purpose == Purpose::ContentCheck;
    if item.failed.is_none() && !reads { Method::Head } else { Method::Get }
}

/// Whether the answer to HEAD may be another one to GET, for this URL or for each of its host: servers refuse HEAD in many ways. What asks
/// for a pause gets one, and an error of the server too.
pub(super) fn refusal_of_head(item: &WorkItem, result: &Result<KeptResponse, FetchError>) -> Option<HeadRefusal> {
    if method(item) == Method::Get {
        return None;
    }
    let status = match result {
        Ok(answer) => answer.status,
        Err(error) => {
            return matches!(error, FetchError::Closed(_) | FetchError::Protocol(_)).then_some(HeadRefusal::OfHost);
        }
    };
    match status {
        405 | 501 => Some(HeadRefusal::OfHost),
        429 | 503 => None,
        _ if is_of_the_host(status) => Some(HeadRefusal::Perhaps),
        400.. => Some(HeadRefusal::OfUrl),
        _ => None,
    }
}

/// The pause after the (n+1)-th failure: doubled each time, up to `most`.
fn back_off(first: Duration, most: Duration, failures: u32) -> Duration {
    first.saturating_mul(2_u32.saturating_pow(failures)).min(most)
}

/// Statuses of trouble that may pass: time-out, too early, too many requests, and the server's own.
fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 425) || is_of_the_host(status)
}

/// Statuses for which the host may be to blame: too many requests, what its server or the gateway before it cannot do now
/// (520 to 530 are those of content delivery networks).
fn is_of_the_host(status: u16) -> bool {
    matches!(status, 429 | 500 | 502..=504 | 507..=509 | 520..=530)
}

fn broken_reason(answer: &KeptResponse) -> Option<&'static str> {
    let to_itself = matches!(&answer.content, Content::Other(page) if page.leads_to_itself);
    match answer.status {
        // What is known was not named in the request.
        304 => Some("not_modified_unasked"),
        300..400 if to_itself => Some("redirect_to_itself"),
        300..400 => Some("redirect_without_target"),
        _ => None,
    }
}

/// Whether a host was asked, so that its delay begins.
pub(super) fn asked(requests: u64, result: &Result<KeptResponse, FetchError>) -> Asked {
    if requests > 0 || result.is_err() { Asked::Yes } else { Asked::No }
}

/// What a response, or its lack, adds to the sums.
pub(super) fn counted(requests: u64, result: &Result<KeptResponse, FetchError>) -> Counters {
    let mut counters = Counters { requests, ..Counters::default() };
    match result {
        // It was counted when it came, as the answer to a guess.
        Ok(_) if requests == 0 => {}
        Ok(answer) => {
            counters.bytes_in = answer.wire_bytes;
            counters.by_status.insert(answer.status, 1);
        }
        Err(error) => {
            counters.errors.insert(error.name().to_owned(), 1);
        }
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::{self, Truncation};

    const RETRY: RetrySettings =
        RetrySettings { attempts: 3, backoff: Duration::from_secs(2), max_backoff: Duration::from_secs(5) };

    fn answer(status: u16, truncated: Option<Truncation>) -> KeptResponse {
        let page = Box::default();
        let content = if status == 200 { Content::Page(page) } else { Content::Other(page) };
        let retry_after = (status == 503).then_some(Duration::from_secs(30));
        KeptResponse {
            status,
            address: None,
            took: Duration::ZERO,
            retry_after,
            steady: None,
            wire_bytes: 0,
            truncated,
            content,
            kept: Vec::new(),
        }
    }

    fn pause(decision: &Decision) -> Option<u64> {
        match decision {
            Decision::Retry { pause, .. } => Some(pause.as_secs()),
            Decision::Final { .. } => None,
        }
    }

    #[test]
    fn passing_trouble_is_retried_to_a_stated_end() {
        let error = Err(FetchError::Refused(fetch::Cause::new("refused")));
        let url = Some(Blame::Url);
        let pauses = [0, 1].map(|failures| pause(&decide(&error, url, failures, &RETRY)));
        assert_eq!(pauses, [Some(2), None], "the first of three attempts is charged with the second");
        let once = RetrySettings { attempts: 1, ..RETRY };
        assert_eq!(pause(&decide(&error, url, 0, &once)), None);
        assert_eq!(pause(&decide(&Ok(answer(503, None)), None, 0, &RETRY)), Some(30));
        assert_eq!(pause(&decide(&Ok(answer(503, None)), url, 0, &RETRY)), Some(2), "its host has the longer pause");
        assert_eq!(pause(&decide(&Ok(answer(404, None)), None, 0, &RETRY)), None);
    }

    #[test]
    fn an_answer_that_is_no_redirect_is_not_called_one() {
        let reasons = [304, 300, 404].map(|status| broken_reason(&answer(status, None)));
        assert_eq!(reasons, [Some("not_modified_unasked"), Some("redirect_without_target"), None]);
    }

    #[test]
    fn the_fault_of_a_host_costs_no_attempt() {
        for result in [
            Err(FetchError::Tls(crate::health::TlsFault::Expired, fetch::Cause::new("expired"))),
            Ok(answer(429, None)),
        ] {
            for fault in [Blame::Host, Blame::Unknown] {
                let decision = decide(&result, Some(fault), 2, &RETRY);
                assert!(matches!(decision, Decision::Retry { attempts: 2, .. }), "{decision:?}");
            }
            assert!(matches!(failure(&result), Heard::Nothing(_)));
        }
    }

    #[test]
    fn a_body_cut_by_the_network_is_fetched_again_then_kept() {
        assert!(pause(&decide(&Ok(answer(200, Some(Truncation::Disconnect))), None, 0, &RETRY)).is_some());
        let kept = decide(&Ok(answer(200, Some(Truncation::Disconnect))), None, 2, &RETRY);
        assert_eq!(kept, Decision::Final { outcome: VisitOutcome::Stored, reason: None });
        assert_eq!(pause(&decide(&Ok(answer(200, Some(Truncation::Size))), None, 0, &RETRY)), None);
    }

    #[test]
    fn permanent_trouble_ends_at_once() {
        let refused = Err(FetchError::AddressRefused([10, 0, 0, 1].into()));
        let failed = Decision::Final { outcome: VisitOutcome::Failed, reason: Some("address".into()) };
        assert_eq!(decide(&refused, None, 0, &RETRY), failed);
    }
}
