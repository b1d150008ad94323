//! Whatever a client accepts, the answer is the whole file in an encoding that was named; plain weights are compared as
//! numbers.

#![no_main]

use std::{collections::HashMap, sync::LazyLock};

use axum::http::{HeaderMap, Uri, header};
use homebody::site::prepare::{
    Resource,
    encoding::{self, Encoding},
};
use homebody_fuzz::{fields, get, identity, lines, resource};
use libfuzzer_sys::fuzz_target;

/// A file in every encoding, each of which decodes to it: checked here once, so that it need not be for every answer.
static PAGE: LazyLock<&Resource> = LazyLock::new(|| {
    let page = resource("page.html");
    for wanted in Encoding::ALL {
        let made = page.representations.iter().find(|representation| representation.encoding == wanted);
        let body = &made.expect("the page is worth every encoding").body;
        assert!(encoding::decodes_to(wanted, body, &identity(page).body), "{wanted} is not the page");
    }
    page
});

fuzz_target!(|text: &[u8]| {
    let fields = fields(text, &PAGE, &[header::ACCEPT_ENCODING]);
    let answer = get(Uri::from_static("/page.html"), fields.clone());
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header(header::VARY), Some("accept-encoding"));

    let sent = answer.representation_of(&PAGE);
    assert_eq!(*answer.body, *sent.body);
    let token = Some(sent.encoding.token()).filter(|_| sent.encoding != Encoding::Identity);
    assert_eq!(answer.header(header::CONTENT_ENCODING), token);

    let said = lines(&fields, header::ACCEPT_ENCODING).join(&b',').to_ascii_lowercase();
    let said = String::from_utf8_lossy(&said);
    assert!(token.is_none_or(|token| said.contains(token) || said.contains('*')), "{token:?} was not asked for");
    if let Some(weights) = plain_weights(&fields) {
        assert_is_wanted_most(sent.encoding, &weights);
    }
});

/// The plain reference (RFC 9110, section 12.5.3).
fn assert_is_wanted_most(sent: Encoding, weights: &HashMap<String, f32>) {
    let weight = |encoding: Encoding| {
        let unsaid = if encoding == Encoding::Identity { f32::MIN_POSITIVE } else { 0.0 };
        *weights.get(encoding.token()).or(weights.get("*")).unwrap_or(&unsaid)
    };
    let most = Encoding::ALL.map(weight).into_iter().fold(0.0, f32::max);
    assert_eq!(weight(sent), most, "{sent} is not wanted most of {weights:?}");
    assert!(most > 0.0 || sent == Encoding::Identity, "{sent} is refused");
}

/// The weights, if all is written as browsers write it: `br;q=0.5, gzip`. Of what is named twice the last counts.
fn plain_weights(fields: &HeaderMap) -> Option<HashMap<String, f32>> {
    let mut weights = HashMap::new();
    for line in lines(fields, header::ACCEPT_ENCODING) {
        for element in str::from_utf8(line).ok()?.split(',').map(str::trim_ascii) {
            let (token, weight) = element.split_once(";q=").unwrap_or((element, "1"));
            let token = token.to_ascii_lowercase().replace("x-gzip", "gzip");
            let is_plain = token.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'*');
            weights.insert(token, plain_weight(weight).filter(|_| is_plain)?);
        }
    }
    Some(weights)
}

/// `0`, `1`, `0.125`: no sign, exponent or more digits, all of which `parse` would take.
fn plain_weight(weight: &str) -> Option<f32> {
    let decimals = weight.strip_prefix(['0', '1'])?;
    let digits = if decimals.is_empty() { decimals } else { decimals.strip_prefix('.')? };
    let is_plain = digits.len() <= 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
    weight.parse().ok().filter(|weight| is_plain && *weight <= 1.0)
}
