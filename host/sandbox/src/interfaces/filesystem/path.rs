//! Paths as guests write them.
//!
//! The resolver beneath (cap-std) never sees a trailing slash, a doubled slash or a `.`: what
//! a trailing slash means is decided here, by [`GuestPath::must_be_folder`]. Trailing slashes
//! once led resolvers out of their folder (GHSA-vqjp-4c8c-hfgg). `..` stays, because only the
//! file system knows what it means after a symbolic link.

use std::path::Path;

use super::{
    bindings::types::ErrorCode,
    limits::{MAX_COMPONENTS, MAX_NAME_BYTES, MAX_PATH_BYTES},
};

/// A relative path within limits, in its plain form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GuestPath {
    text: String,
    folder: bool,
}

impl GuestPath {
    /// Reads a path. An absolute one is refused as [`ErrorCode::NotPermitted`].
    pub(super) fn parse(text: &str) -> Result<Self, ErrorCode> {
        if text.len() > MAX_PATH_BYTES {
            return Err(ErrorCode::NameTooLong);
        }
        if text.is_empty() {
            return Err(ErrorCode::NoEntry);
        }
        if text.contains('\0') {
            return Err(ErrorCode::Invalid);
        }
        if text.starts_with('/') {
            return Err(ErrorCode::NotPermitted);
        }
        let mut plain = String::with_capacity(text.len());
        let mut components = 0;
        for component in text
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
        {
            components += 1;
            if component.len() > MAX_NAME_BYTES || components > MAX_COMPONENTS {
                return Err(ErrorCode::NameTooLong);
            }
            if !plain.is_empty() {
                plain.push('/');
            }
            plain.push_str(component);
        }
        let last = text.rsplit('/').next().unwrap_or_default();
        let folder = matches!(last, "" | "." | "..");
        if plain.is_empty() {
            plain.push('.');
        }
        Ok(Self {
            text: plain,
            folder,
        })
    }

    /// The path without a trailing slash.
    pub(super) fn as_path(&self) -> &Path {
        Path::new(&self.text)
    }

    /// The path without a trailing slash.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the guest wrote it so that it can only name a folder: `a/`, `a/.`, `..`.
    pub(super) fn must_be_folder(&self) -> bool {
        self.folder
    }
}

/// Checks what a symbolic link is to point to. A link outlives the call, and a program of the
/// host that follows it is not confined to the folder: so it may lead neither to the root nor
/// upwards, wherever it is moved to.
pub(super) fn check_link_target(text: &str) -> Result<(), ErrorCode> {
    if text.split('/').any(|part| part == "..") {
        return Err(ErrorCode::NotPermitted);
    }
    GuestPath::parse(text).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> (String, bool) {
        let path = GuestPath::parse(text).expect(text);
        (path.as_str().to_owned(), path.must_be_folder())
    }

    #[test]
    fn trailing_slashes_and_dots_are_a_property_and_no_text() {
        assert_eq!(plain("a/b"), ("a/b".to_owned(), false));
        assert_eq!(plain("a//./b"), ("a/b".to_owned(), false));
        for text in ["a/", "a//", "a/.", "a/./", "./a/"] {
            assert_eq!(plain(text), ("a".to_owned(), true), "{text}");
        }
        assert_eq!(plain("."), (".".to_owned(), true));
        assert_eq!(plain("./"), (".".to_owned(), true));
        assert_eq!(plain("a/.."), ("a/..".to_owned(), true));
    }

    #[test]
    fn paths_outside_the_limits_are_refused() {
        let deep = "a/".repeat(MAX_COMPONENTS + 1);
        let refused = [
            ("", ErrorCode::NoEntry),
            ("/etc", ErrorCode::NotPermitted),
            ("a\0b", ErrorCode::Invalid),
            (deep.as_str(), ErrorCode::NameTooLong),
            (&"a".repeat(MAX_NAME_BYTES + 1), ErrorCode::NameTooLong),
            (&"a/".repeat(MAX_PATH_BYTES), ErrorCode::NameTooLong),
        ];
        for (text, code) in refused {
            assert_eq!(
                GuestPath::parse(text).map_err(|error| error as u32),
                Err(code as u32),
                "{text}"
            );
        }
    }

    #[test]
    fn a_link_points_neither_upwards_nor_to_the_root() {
        for text in ["..", "../x", "a/../../x", "/etc", "a/..", ""] {
            assert!(check_link_target(text).is_err(), "{text}");
        }
        for text in ["a", "a/b", "./a", "a..b"] {
            assert!(check_link_target(text).is_ok(), "{text}");
        }
    }
}
