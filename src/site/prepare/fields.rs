//! The header fields of a resource that are the same for all its representations.

use std::borrow::Cow;

use super::{caching::Caching, headers::Changes};

/// Header fields in the order of sending; each name once, in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(Vec<Field>);

/// A name and its value.
pub type Field = (Cow<'static, str>, Cow<'static, str>);

/// For everything: browsers take the type that is sent, and do not guess another from the bytes.
const FOR_ALL: [(&str, &str); 1] = [("x-content-type-options", "nosniff")];

/// For what browsers show in a window or frame of its own. None of it changes how a page works by itself: its scripts,
/// pictures from elsewhere, frames of others and windows that it opens stay as they are.
const FOR_DOCUMENTS: [(&str, &str); 3] = [
    // Other sites learn which site a visitor comes from, but not which page, and nothing over plain HTTP.
    ("referrer-policy", "strict-origin-when-cross-origin"),
    // No other site shows the page in a frame, to have it clicked unseen.
    ("content-security-policy", "frame-ancestors 'self'"),
    // Another site that opens the page in a window has no hand on that window.
    ("cross-origin-opener-policy", "same-origin-allow-popups"),
];

impl Fields {
    /// The fields of a resource: the defaults for its type and class, with the owner's changes.
    pub fn new(content_type: &'static str, caching: Caching, mut changes: Changes) -> Self {
        // Browsers guess where there is no type, and caches where there is no Cache-Control. So these two may have another
        // value, but are never left out.
        let content_type = changes.remove("content-type").flatten().map_or(content_type.into(), Cow::from);
        let cache_control = changes.remove("cache-control").flatten();
        let cache_control = cache_control.map_or(caching.cache_control().into(), Cow::from);
        let mut defaults = FOR_ALL.to_vec();
        if is_document(&content_type) {
            defaults.extend(FOR_DOCUMENTS);
        }
        let mut fields = vec![("content-type".into(), content_type), ("cache-control".into(), cache_control)];
        let unchanged = defaults.into_iter().filter(|(name, _)| !changes.contains_key(*name));
        fields.extend(unchanged.map(|(name, value)| (name.into(), value.into())));
        fields.extend(changes.into_iter().filter_map(|(name, value)| Some((name.into(), value?.into()))));
        Self(fields)
    }

    /// The value of a field, by its name in lower case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = &Field> {
        self.0.iter()
    }
}

impl FromIterator<Field> for Fields {
    fn from_iter<T: IntoIterator<Item = Field>>(fields: T) -> Self {
        Self(fields.into_iter().collect())
    }
}

impl IntoIterator for Fields {
    type Item = Field;
    type IntoIter = std::vec::IntoIter<Field>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

fn is_document(content_type: &str) -> bool {
    let content_type = content_type.to_ascii_lowercase();
    ["html", "xml", "pdf"].iter().any(|part| content_type.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(content_type: &'static str, changes: &[(&str, Option<&str>)]) -> Vec<(String, String)> {
        let changes = changes.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned))).collect();
        let fields = Fields::new(content_type, Caching::Revalidate, changes);
        fields.into_iter().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
    }

    fn names(content_type: &'static str, changes: &[(&str, Option<&str>)]) -> Vec<String> {
        fields(content_type, changes).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn documents_have_more_defaults_than_pictures() {
        let all = ["content-type", "cache-control", "x-content-type-options"];
        assert_eq!(names("image/jpeg", &[]), all);
        for document in ["text/html; charset=utf-8", "image/svg+xml", "application/pdf"] {
            let more = ["referrer-policy", "content-security-policy", "cross-origin-opener-policy"];
            assert_eq!(names(document, &[]), [&all[..], &more].concat(), "{document}");
        }
    }

    #[test]
    fn every_default_can_be_changed_and_all_but_type_and_caching_removed() {
        let defaults = names("text/html", &[]);
        for name in &defaults {
            let changed = fields("text/html", &[(name, Some("other"))]);
            assert_eq!(changed.iter().filter(|(known, _)| known == name).count(), 1);
            assert!(changed.contains(&(name.clone(), "other".to_owned())), "{name}");
            let stays = matches!(&**name, "content-type" | "cache-control");
            assert_eq!(names("text/html", &[(name, None)]).contains(name), stays, "{name}");
        }
    }

    #[test]
    fn what_the_owner_makes_a_document_is_treated_as_one() {
        let made = names("application/octet-stream", &[("content-type", Some("text/html"))]);
        assert!(made.iter().any(|name| name == "referrer-policy"), "{made:?}");
    }
}
