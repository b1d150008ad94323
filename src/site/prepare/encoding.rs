//! The encodings of a representation, and how they are made.

use std::{
    fmt,
    io::{self, Read, Write},
};

use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};
use zstd::zstd_safe::CParameter;

/// A content coding (RFC 9110, section 8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Encoding {
    /// The bytes of the file.
    Identity,
    /// Brotli (RFC 7932).
    Brotli,
    /// Zstandard (RFC 8878), with the window that RFC 9659 allows on the web.
    Zstd,
    /// gzip (RFC 1952).
    Gzip,
}

impl Encoding {
    /// All encodings, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::Identity, Self::Brotli, Self::Zstd, Self::Gzip];

    /// Those that have to be made.
    pub const COMPRESSED: [Self; 3] = [Self::Brotli, Self::Zstd, Self::Gzip];

    /// The name in Accept-Encoding and Content-Encoding.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// What a compressed file's name ends with; nothing for the identity.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Identity => "",
            Self::Brotli => ".br",
            Self::Zstd => ".zst",
            Self::Gzip => ".gz",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.token())
    }
}

/// How hard to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// As small as it gets; for the site in the binary, compressed once and sent for months.
    Best,
    /// Quick; for a folder that is prepared at every start.
    Fast,
}

/// RFC 9659, section 3: a browser need not keep more than 8 MiB of window.
const ZSTD_WINDOW_LOG: u32 = 23;

/// Whether a compressed representation is worth its place: it saves 5 % or more.
pub fn pays(compressed: usize, identity: usize) -> bool {
    // u128: twenty times a length may not fit into a usize.
    compressed < identity && compressed as u128 * 20 <= identity as u128 * 19
}

/// Compresses `bytes`. The result depends on nothing else: no time, no file name, no number of threads.
///
/// # Panics
///
/// If an encoder fails on memory, which has no other cause than an error in its use.
pub fn compress(encoding: Encoding, bytes: &[u8], effort: Effort) -> Vec<u8> {
    let mut compressed = match encoding {
        Encoding::Identity => bytes.to_vec(),
        Encoding::Brotli => brotli(bytes, effort),
        Encoding::Zstd => zstd(bytes, effort).expect("zstd compresses from memory to memory with valid parameters"),
        Encoding::Gzip => gzip(bytes, effort).expect("gzip compresses from memory to memory"),
    };
    // It stays for as long as the site; the room that the encoder wanted need not.
    compressed.shrink_to_fit();
    compressed
}

fn brotli(bytes: &[u8], effort: Effort) -> Vec<u8> {
    let params = brotli::enc::BrotliEncoderParams {
        quality: match effort {
            Effort::Best => 11,
            Effort::Fast => 4,
        },
        lgwin: 24,
        size_hint: bytes.len(),
        ..Default::default()
    };
    let mut compressed = Vec::with_capacity(bytes.len() / 2);
    brotli::BrotliCompress(&mut &*bytes, &mut compressed, &params).expect("brotli compresses from memory to memory");
    compressed
}

fn zstd(bytes: &[u8], effort: Effort) -> io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(match effort {
        Effort::Best => 22,
        Effort::Fast => 3,
    })?;
    compressor.set_parameter(CParameter::WindowLog(ZSTD_WINDOW_LOG))?;
    compressor.compress(bytes)
}

fn gzip(bytes: &[u8], effort: Effort) -> io::Result<Vec<u8>> {
    let level = match effort {
        Effort::Best => Compression::best(),
        Effort::Fast => Compression::new(4),
    };
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 2), level);
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Whether `compressed` is `identity` in this encoding. Reads no further than one byte past `identity`'s length, so a
/// file that decodes to gigabytes does no harm.
pub fn decodes_to(encoding: Encoding, compressed: &[u8], identity: &[u8]) -> bool {
    let limit = identity.len() as u64 + 1;
    let mut decoded = Vec::with_capacity(identity.len() + 1);
    let result = match encoding {
        Encoding::Identity => return compressed == identity,
        Encoding::Brotli => brotli::Decompressor::new(compressed, 4096).take(limit).read_to_end(&mut decoded),
        Encoding::Zstd => {
            zstd::Decoder::new(compressed).and_then(|decoder| decoder.take(limit).read_to_end(&mut decoded))
        }
        Encoding::Gzip => MultiGzDecoder::new(compressed).take(limit).read_to_end(&mut decoded),
    };
    result.is_ok() && decoded == identity
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_decodes_to_what_was_encoded() {
        let text = "the quick brown fox jumps over the lazy dog. ".repeat(100);
        for effort in [Effort::Best, Effort::Fast] {
            for encoding in Encoding::ALL {
                let compressed = compress(encoding, text.as_bytes(), effort);
                assert!(decodes_to(encoding, &compressed, text.as_bytes()), "{encoding}");
                assert!(!decodes_to(encoding, &compressed, &text.as_bytes()[1..]), "{encoding}: other content");
                assert!(!decodes_to(encoding, b"garbage", text.as_bytes()), "{encoding}: garbage");
            }
        }
    }

    #[test]
    fn a_representation_pays_from_five_per_cent_on() {
        assert!(pays(95, 100));
        assert!(!pays(96, 100));
        assert!(!pays(0, 0), "an empty file has nothing to save");
        assert!(!pays(1, 0));
    }
}
