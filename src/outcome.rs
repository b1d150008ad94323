//! What happened to a request: the one word that counters, histogram and log line are made from.

use std::fmt;

/// The outcomes of a request, in the order of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It is no proper request, or an address that is too long: 400 or 414.
    Refused,
    /// The method is not served: 405, or 204 for OPTIONS.
    Method,
    /// A representation or a part of one was sent: 200 or 206.
    Asset,
    /// The client has the representation already: 304.
    NotModified,
    /// The client means another version of the representation: 412.
    PreconditionFailed,
    /// The representation has no byte of the range: 416.
    RangeNotSatisfiable,
    /// The path is another name of one of the site's own: 308.
    CanonicalRedirect,
    /// A short link led elsewhere.
    ShortLink,
    /// A short link was shown, not followed.
    LinkPreview,
    /// Neither the site nor the links know the path: 404.
    NotFound,
}

impl Outcome {
    /// The word for it in logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Method => "method",
            Self::Asset => "asset",
            Self::NotModified => "not_modified",
            Self::PreconditionFailed => "precondition_failed",
            Self::RangeNotSatisfiable => "range_not_satisfiable",
            Self::CanonicalRedirect => "canonical_redirect",
            Self::ShortLink => "short_link",
            Self::LinkPreview => "link_preview",
            Self::NotFound => "not_found",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
