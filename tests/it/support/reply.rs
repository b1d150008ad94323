//! An answer, as a client sees it.

use std::{fmt, io::Read};

use brotli::Decompressor;
use flate2::read::GzDecoder;

/// Status, header fields and body. Assertions report the line of the test.
#[derive(Clone)]
#[must_use]
pub struct Reply {
    pub status: u16,
    /// Names in lower case, in the order of sending.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl fmt::Debug for Reply {
    /// With no more of the body than a failing test needs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.status)?;
        for (name, value) in &self.headers {
            writeln!(f, "{name}: {value}")?;
        }
        let body: String = String::from_utf8_lossy(&self.body).chars().take(200).collect();
        write!(f, "\n{body}")
    }
}

impl Reply {
    /// The value of a field; several are joined as one list.
    pub fn header(&self, name: &str) -> Option<String> {
        let values: Vec<&str> = self.headers.iter().filter(|(n, _)| n == name).map(|(_, value)| &**value).collect();
        if values.is_empty() { None } else { Some(values.join(", ")) }
    }

    #[track_caller]
    pub fn etag(&self) -> String {
        self.header("etag").unwrap_or_else(|| panic!("no ETag: {self:?}"))
    }

    #[track_caller]
    pub fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    /// The body without its encoding.
    #[track_caller]
    pub fn decoded(&self) -> Vec<u8> {
        let mut decoded = Vec::new();
        match self.header("content-encoding").as_deref() {
            None => decoded.clone_from(&self.body),
            Some("br") => drop(Decompressor::new(&*self.body, 4096).read_to_end(&mut decoded).unwrap()),
            Some("gzip") => drop(GzDecoder::new(&*self.body).read_to_end(&mut decoded).unwrap()),
            Some("zstd") => decoded = zstd::decode_all(&*self.body).unwrap(),
            Some(other) => panic!("an unknown encoding: {other}"),
        }
        decoded
    }

    #[track_caller]
    pub fn assert_status(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// The field has exactly this value.
    #[track_caller]
    pub fn assert_header(&self, name: &str, value: &str) -> &Self {
        assert_eq!(self.header(name).as_deref(), Some(value), "{name} of {self:?}");
        self
    }

    #[track_caller]
    pub fn assert_no_header(&self, name: &str) -> &Self {
        assert_eq!(self.header(name), None, "{name} of {self:?}");
        self
    }

    /// These fields and no others, but for Date, which the connection adds.
    #[track_caller]
    pub fn assert_headers(&self, expected: &[(&str, &str)]) -> &Self {
        let mut got: Vec<(&str, &str)> = self.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        got.retain(|(name, _)| *name != "date");
        got.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(got, expected);
        self
    }

    #[track_caller]
    pub fn assert_redirects_to(&self, status: u16, location: &str) -> &Self {
        self.assert_status(status).assert_header("location", location)
    }
}
