//! The hash that validators are made of.

use sha1::{Digest, Sha1};

/// SHA-1 of the bytes in hexadecimal, 40 characters.
///
/// It tells versions of one owner's file apart; nobody gains by forging one.
pub fn sha1_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = Sha1::digest(bytes);
    digest.iter().flat_map(|byte| [byte >> 4, byte & 0xf]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}
