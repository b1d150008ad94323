//! When a miss may cause a refresh.
//!
//! Strangers ask for names that do not exist all day long. None of that may become traffic to the source, so:
//!
//! - names that cannot be links never cause a refresh ([`may_be_link`]);
//! - there is at most one refresh at a time, and everybody who misses meanwhile waits for that one;
//! - refreshes come in a burst of [`TokenBucket::BURST`] at most, and then one a minute;
//! - nobody waits longer than [`PATIENCE`];
//! - how long the source says that it does not want to be asked, it is not asked.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use tokio::time::Instant;

use super::line;

/// How long a request that missed waits for a refresh.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// Whether a name that is not in the table may be there after a refresh.
///
/// It has to be a possible alias (see [`line::check_alias`]) without the extension of a file: browsers and scanners ask
/// for `favicon.ico` and `wp-login.php`, people write `gh` and `v1.2`. A link may still be named `cv.pdf`; it then
/// arrives with the next refresh that another name causes.
pub(super) fn may_be_link(name: &str) -> bool {
    line::check_alias(name).is_ok() && !has_file_extension(name)
}

fn has_file_extension(name: &str) -> bool {
    const EXTENSIONS: [&str; 60] = [
        "7z", "action", "asp", "aspx", "atom", "avif", "bak", "bz2", "cfg", "cgi", "conf", "config", "css", "csv",
        "dll", "do", "eot", "env", "exe", "gif", "gz", "htm", "html", "ico", "inc", "ini", "jar", "jpeg", "jpg", "js",
        "json", "jsp", "key", "log", "map", "md", "mjs", "mp3", "mp4", "old", "otf", "pdf", "pem", "php", "png", "rar",
        "rss", "sh", "sql", "svg", "tar", "tgz", "ttf", "txt", "webp", "woff", "woff2", "xml", "yml", "zip",
    ];
    let extension = name.rsplit('/').next().and_then(|last| last.rsplit_once('.')).map(|(_, extension)| extension);
    extension.is_some_and(|extension| EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension)))
}

/// An interval that is up to a tenth shorter or longer, at random.
pub(super) fn jittered(interval: Duration) -> Duration {
    // A hasher is the one source of chance in the standard library, and good enough not to be in step with others.
    let chance = RandomState::new().hash_one(()) % 1001;
    interval.mul_f64(0.9 + f64::from(u32::try_from(chance).unwrap_or(0)) * 0.0002)
}

/// Lets a burst through, and then one in a while.
#[derive(Debug)]
pub(super) struct TokenBucket {
    tokens: u32,
    /// When the first of the missing tokens began to come back.
    since: Instant,
}

impl TokenBucket {
    /// How many may come at once.
    pub(super) const BURST: u32 = 4;
    /// How long a token takes to come back.
    pub(super) const REFILL: Duration = Duration::from_secs(60);

    pub(super) fn full() -> Self {
        Self { tokens: Self::BURST, since: Instant::now() }
    }

    /// Takes a token, if there is one.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        while self.tokens < Self::BURST && now.saturating_duration_since(self.since) >= Self::REFILL {
            self.tokens += 1;
            self.since += Self::REFILL;
        }
        if self.tokens == Self::BURST {
            self.since = now;
        }
        let left = self.tokens.checked_sub(1);
        self.tokens = left.unwrap_or(0);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_names_that_may_be_links_cause_a_refresh() {
        for (name, expected, why) in [
            ("gh", true, "a plain name"),
            ("talk-2026", true, "a name with a number"),
            ("v1.2", true, "a dot does not make a file"),
            ("talks/rust", true, "two parts"),
            ("café", true, "letters of any script"),
            ("", false, "the home page"),
            (".env", false, "hidden files"),
            ("a/.git", false, "hidden files further down"),
            ("wp-login.php", false, "scanners' favourite"),
            ("favicon.ICO", false, "browsers' favourite, in any case"),
            ("a/b/c/d", false, "deep paths"),
            ("a//b", false, "an empty part"),
            ("x'or'1", false, "odd characters"),
            (&"n".repeat(64), true, "64 bytes"),
            (&"n".repeat(65), false, "65 bytes"),
        ] {
            assert_eq!(may_be_link(name), expected, "{name}: {why}");
        }
    }

    #[test]
    fn an_interval_differs_by_a_tenth_at_most_and_not_always_by_the_same() {
        let intervals: Vec<Duration> = (0..100).map(|_| jittered(Duration::from_secs(100))).collect();
        assert!(intervals.iter().all(|each| (90.0..=110.0).contains(&each.as_secs_f64())), "{intervals:?}");
        assert!(intervals.iter().any(|each| *each != intervals[0]));
    }

    #[test]
    fn a_burst_is_followed_by_one_a_minute() {
        let start = Instant::now();
        let mut bucket = TokenBucket { tokens: TokenBucket::BURST, since: start };
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!([(); 5].map(|()| bucket.take(at(0))), [true, true, true, true, false]);
        assert_eq!([59, 60, 61, 119, 120].map(|second| bucket.take(at(second))), [false, true, false, false, true]);
        assert_eq!(
            [(); 5].map(|()| bucket.take(at(100_000))),
            [true, true, true, true, false],
            "never more than a burst"
        );
    }

    proptest! {
        #[test]
        fn no_pattern_of_requests_gets_more_than_its_share(gaps in proptest::collection::vec(0_u64..200, 1..200)) {
            let start = Instant::now();
            let mut bucket = TokenBucket { tokens: TokenBucket::BURST, since: start };
            let (mut now, mut taken) = (start, 0);
            for gap in gaps {
                now += Duration::from_secs(gap);
                taken += u64::from(bucket.take(now));
            }
            prop_assert!(taken <= u64::from(TokenBucket::BURST) + (now - start).as_secs() / TokenBucket::REFILL.as_secs());
        }
    }
}
