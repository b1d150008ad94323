//! Content negotiation: which encoding does this client want?

use axum::http::{HeaderMap, header};

use super::prepare::encoding::Encoding;

/// A weight between 0 and 1 in thousandths, so that comparing is exact (RFC 9110, section 12.4.2).
type Weight = u16;

const MOST: Weight = 1000;
const REFUSED: Weight = 0;
/// For the identity where nothing is said of it: acceptable, but whatever was named is wanted more.
const UNSAID: Weight = 1;

/// What a client accepts: the weight of each encoding (RFC 9110, section 12.5.3).
///
/// - No header, or an empty one: the identity alone.
/// - `*` speaks for every encoding that is not named, the identity included.
/// - The identity is acceptable unless `identity;q=0`, or `*;q=0` without naming it.
/// - Names are compared without case; `x-gzip` is gzip. Several header lines are one list; of an encoding named twice,
///   the last counts.
/// - An element with a weight that is none (`q=1.5`, `q=0.1234`, `q=a`) is ignored.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AcceptEncoding {
    /// Indexed by [`Encoding`].
    weights: [Weight; Encoding::ALL.len()],
}

impl AcceptEncoding {
    pub(super) fn of(request: &HeaderMap) -> Self {
        let mut named = [None; Encoding::ALL.len()];
        let mut any = None;
        for line in request.get_all(header::ACCEPT_ENCODING) {
            for element in line.as_bytes().split(|byte| *byte == b',') {
                let mut parts = element.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
                let coding = parts.next().unwrap_or_default();
                let Some(weight) = weight(parts) else { continue };
                if coding == b"*" {
                    any = Some(weight);
                } else if let Some(encoding) = encoding(coding) {
                    named[encoding as usize] = Some(weight);
                }
            }
        }
        let weights = Encoding::ALL.map(|encoding| {
            let unsaid = if encoding == Encoding::Identity { UNSAID } else { REFUSED };
            named[encoding as usize].or(any).unwrap_or(unsaid)
        });
        Self { weights }
    }

    /// The place of the one to send among `offered`, which are ordered by preference: the highest weight wins, then the
    /// first. `None` if none is acceptable.
    pub(super) fn choose(&self, offered: impl Iterator<Item = Encoding>) -> Option<usize> {
        let mut best = None;
        for (place, encoding) in offered.enumerate() {
            let weight = self.weights[encoding as usize];
            if weight > best.map_or(REFUSED, |(_, best)| best) {
                best = Some((place, weight));
            }
        }
        best.map(|(place, _)| place)
    }
}

fn encoding(coding: &[u8]) -> Option<Encoding> {
    let is = |token: &str| coding.eq_ignore_ascii_case(token.as_bytes());
    Encoding::ALL.into_iter().find(|encoding| is(encoding.token())).or(is("x-gzip").then_some(Encoding::Gzip))
}

/// The weight among the parameters of an element; 1 if there is none, `None` if it is malformed.
fn weight<'a>(mut parameters: impl Iterator<Item = &'a [u8]>) -> Option<Weight> {
    let is_weight = |parameter: &&[u8]| matches!(parameter, [b'q' | b'Q'] | [b'q' | b'Q', b'=' | b' ' | b'\t', ..]);
    match parameters.find(is_weight) {
        None => Some(MOST),
        Some(parameter) => qvalue(parameter[1..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start()),
    }
}

/// `qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] )` (RFC 9110, section 12.4.2).
fn qvalue(value: &[u8]) -> Option<Weight> {
    let (whole, decimals) = match value {
        [whole @ (b'0' | b'1')] => (whole, &b""[..]),
        [whole @ (b'0' | b'1'), b'.', decimals @ ..] if decimals.len() <= 3 => (whole, decimals),
        _ => return None,
    };
    let mut thousandths = Weight::from(whole - b'0') * MOST;
    let mut place = MOST;
    for digit in decimals {
        place /= 10;
        thousandths += Weight::from(digit.is_ascii_digit().then(|| digit - b'0')?) * place;
    }
    (thousandths <= MOST).then_some(thousandths)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    /// Smallest first, as a resource orders them.
    const OFFERED: [Encoding; 4] = [Encoding::Brotli, Encoding::Zstd, Encoding::Gzip, Encoding::Identity];

    fn chosen(lines: &[&str]) -> Option<Encoding> {
        let mut request = HeaderMap::new();
        for line in lines {
            request.append(header::ACCEPT_ENCODING, HeaderValue::from_str(line).expect("a header value"));
        }
        AcceptEncoding::of(&request).choose(OFFERED.into_iter()).map(|place| OFFERED[place])
    }

    #[test]
    fn accept_encoding_is_read_as_the_rfc_says() {
        use Encoding::{Brotli, Gzip, Identity, Zstd};
        for (lines, expected, why) in [
            (&[][..], Some(Identity), "no header"),
            (&[""], Some(Identity), "an empty header"),
            (&["gzip, deflate, br, zstd"], Some(Brotli), "equal weights: the smallest"),
            (&["gzip"], Some(Gzip), "one"),
            (&["GZIP"], Some(Gzip), "names have no case"),
            (&["x-gzip"], Some(Gzip), "an old name"),
            (&["gzip;q=0.5"], Some(Gzip), "what is named is wanted more than the identity"),
            (&["gzip;q=0"], Some(Identity), "refused"),
            (&["gzip;q=0.", "br;q=0.0,zstd;q=0.000"], Some(Identity), "refused in other spellings"),
            (&["br;q=0.5, gzip;q=0.8"], Some(Gzip), "the higher weight"),
            (&["br;q=0.123, zstd;q=0.124"], Some(Zstd), "thousandths count"),
            (&["br ; q=0.1 , zstd ;q = 0.2"], Some(Zstd), "white space"),
            (&["br;Q=0.1, gzip;q=0.05"], Some(Brotli), "q has no case"),
            (&["identity;q=1, br;q=0.5"], Some(Identity), "the identity preferred"),
            (&["*"], Some(Brotli), "anything"),
            (&["br;q=0, *"], Some(Zstd), "anything but"),
            (&["*;q=0"], None, "nothing at all, the identity included"),
            (&["*;q=0, identity"], Some(Identity), "the identity alone"),
            (&["identity;q=0"], None, "the identity refused, nothing else named"),
            (&["identity;q=0, gzip"], Some(Gzip), "anything named but the identity"),
            (&["br;q=1.5, gzip;q=0.1"], Some(Gzip), "a weight above 1 is none"),
            (&["br;q=1.001, gzip;q=0.1"], Some(Gzip), "a weight just above 1 is none"),
            (&["br;q=0.1234, gzip;q=0.1"], Some(Gzip), "four decimals are none"),
            (&["br;q=x, gzip;q=0.1"], Some(Gzip), "a letter is none"),
            (&["br;q, gzip;q=0.1"], Some(Gzip), "no value is none"),
            (&["br;q=, gzip;q=0.1"], Some(Gzip), "an empty value is none"),
            (&["br;level=9;q=0.1, gzip;q=0.2"], Some(Gzip), "other parameters are passed over"),
            (&["br;, gzip;q=0.5"], Some(Brotli), "an empty parameter is none"),
            (&["brotli, zst"], Some(Identity), "not the names of codings"),
            (&["gzip", "br"], Some(Brotli), "several lines"),
        ] {
            assert_eq!(chosen(lines), expected, "{why}: {lines:?}");
        }
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(line in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(value) = HeaderValue::from_bytes(&line) {
                let request = HeaderMap::from_iter([(header::ACCEPT_ENCODING, value)]);
                let _ = AcceptEncoding::of(&request).choose(OFFERED.into_iter());
            }
        }

        #[test]
        fn weights_are_compared_as_the_numbers_they_are(a in 0_u16..=1000, b in 0_u16..=1000) {
            let q = |weight: u16| format!("{}.{:03}", weight / 1000, weight % 1000);
            let expected = match (a, b) {
                (0, 0) => Encoding::Identity,
                _ if a >= b => Encoding::Brotli,
                _ => Encoding::Gzip,
            };
            prop_assert_eq!(chosen(&[&format!("identity;q=0.000, *;q=0, gzip;q={}, br;q={}", q(b), q(a))]),
                (expected != Encoding::Identity).then_some(expected));
        }
    }
}
