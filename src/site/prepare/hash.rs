//! The hash that validators are made of.

use sha1::{Digest, Sha1};

use super::headers::Changes;

/// SHA-1 of a representation, in hexadecimal, 40 characters: of its bytes, behind the owner's changes to its fields if
/// there are any.
///
/// The changes count because a client that validates its copy keeps the fields it has (RFC 9111, section 3.2): under
/// another Content-Type or Content-Security-Policy, the copy is out of date though the bytes are the same. A strong
/// validator may follow such changes (RFC 9110, section 8.8.1).
///
/// It tells versions of one owner's file apart; nobody gains by forging one.
pub fn representation(changes: &Changes, bytes: &[u8]) -> String {
    let mut hash = Sha1::new();
    for (name, value) in changes {
        hash.update(format!("{name}: {value:?}\n"));
    }
    hash.update(bytes);
    hexadecimal(&hash.finalize())
}

/// SHA-1 of bytes, in hexadecimal.
pub fn bytes(bytes: &[u8]) -> String {
    hexadecimal(&Sha1::digest(bytes))
}

fn hexadecimal(digest: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    digest.iter().flat_map(|byte| [byte >> 4, byte & 0xf]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}
