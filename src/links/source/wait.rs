//! How long a server wants not to be asked.

use std::time::{Duration, SystemTime};

use reqwest::header::{self, HeaderMap, HeaderName};

/// Nobody is obeyed for longer: a mistake at the source must not turn refreshing off for good.
const LONGEST: Duration = Duration::from_secs(60 * 60);

const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// The time from `now` until the next request is welcome, if the answer says: by Retry-After, in seconds or as a date
/// (RFC 9110, section 10.2.3), or by GitHub's fields for an exhausted limit.
pub(super) fn wanted(answer: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &HeaderName| answer.get(name)?.to_str().ok().map(str::trim);
    let until = |time: SystemTime| time.duration_since(now).unwrap_or_default();
    let retry_after = text(&header::RETRY_AFTER).and_then(|value| match value.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => httpdate::parse_http_date(value).ok().map(until),
    });
    let reset = || {
        let reset = text(&RESET).filter(|_| text(&REMAINING) == Some("0"))?.parse().ok()?;
        Some(until(SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(reset))?))
    };
    retry_after.or_else(reset).map(|wait| wait.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_obeyed_but_not_for_ever() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777); // Sun, 06 Nov 1994 08:49:37 GMT
        for (fields, seconds, why) in [
            (&[][..], None, "nothing said"),
            (&[("retry-after", "120")], Some(120), "seconds"),
            (&[("retry-after", "Sun, 06 Nov 1994 08:51:37 GMT")], Some(120), "a date"),
            (&[("retry-after", "Sun, 06 Nov 1994 08:40:00 GMT")], Some(0), "a date that is over"),
            (&[("retry-after", "soon")], None, "neither"),
            (&[("retry-after", "-5")], None, "a negative number is neither"),
            (&[("retry-after", "99999999999999999999999")], None, "a number of no length of time"),
            (&[("retry-after", "86400")], Some(3600), "a day is an hour"),
            (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "784111837")], Some(60), "GitHub's limit"),
            (&[("x-ratelimit-remaining", "1"), ("x-ratelimit-reset", "784111837")], None, "a limit not reached"),
            (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "18446744073709551615")], None, "no time at all"),
            (
                &[("retry-after", "5"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "784111837")],
                Some(5),
                "Retry-After comes first",
            ),
        ] {
            let fields = fields
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), value.parse().expect("a header value")));
            assert_eq!(wanted(&fields.collect(), now), seconds.map(Duration::from_secs), "{why}");
        }
    }
}
