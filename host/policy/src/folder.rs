//! A folder of the host that a guest sees.

use std::{fmt, path::Path};

use serde::{Deserialize, Serialize};

use crate::{capabilities::ANY, limits::DEFAULT_FOLDER_BYTES};

/// Bytes of a path, the usual PATH_MAX.
const MAX_PATH_BYTES: usize = 4096;

/// A folder of the host that a guest sees under a path of its own.
///
/// In a wish `host` is empty (the person who grants picks it) and `guest` names the place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderRule {
    /// Absolute path on the host; empty in a wish.
    #[serde(default)]
    pub host: String,
    /// Absolute path in the guest, for example `/data`; `*` in a wish for any.
    pub guest: String,
    /// Whether the guest may write.
    #[serde(default)]
    pub write: bool,
    /// Bytes that one call may write in all; none for the default of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_bytes: Option<u64>,
}

impl FolderRule {
    /// What is left of this granted folder for a component with these wishes, if anything. Host
    /// path and quota are the grant's; a wish can make the quota smaller.
    pub(crate) fn limited_to(&self, wishes: &[Self]) -> Option<Self> {
        let asked = wishes.iter().filter(|wish| wish.names(&self.guest));
        let (mut found, mut write, mut quota) = (false, false, Some(0));
        for wish in asked {
            found = true;
            write |= wish.write;
            // The largest of the wishes, where one without a figure is content with the grant's.
            quota = quota.zip(wish.quota_bytes).map(|(a, b)| a.max(b));
        }
        let quota_bytes = match (self.quota_bytes, quota) {
            (Some(own), Some(wish)) => Some(own.min(wish)),
            // A grant without a figure stands for the host's default, which no wish raises.
            (None, Some(wish)) => quota.filter(|_| wish < DEFAULT_FOLDER_BYTES),
            (own, None) => own,
        };
        let limited = Self {
            write: self.write && write,
            quota_bytes,
            ..self.clone()
        };
        found.then_some(limited)
    }

    /// Whether `other` is the same folder with no more rights. A wish is covered by any folder
    /// at its place, as it names none of the host.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let quota = match (self.quota_bytes, other.quota_bytes) {
            (Some(own), Some(theirs)) => theirs <= own,
            // None is the host's default: as far as is known here, what it is unless configured.
            (None, Some(theirs)) => theirs < DEFAULT_FOLDER_BYTES,
            (own, None) => own.is_none(),
        };
        let quota = quota || !other.write || other.host.is_empty();
        let host = other.host.is_empty() || self.host == other.host;
        host && self.names(&other.guest) && (self.write || !other.write) && quota
    }

    /// Whether this rule is about the guest's folder `guest`.
    fn names(&self, guest: &str) -> bool {
        self.guest == ANY || self.guest == guest
    }

    /// Whether this folder is read-only although it lies inside `other`, or is the same, through
    /// which it can be written. Goes by the paths as written: where links lead is not known here.
    pub(crate) fn is_writable_through(&self, other: &Self) -> bool {
        let (host, around) = (Path::new(&self.host), Path::new(&other.host));
        !self.write && other.write && !other.host.is_empty() && host.starts_with(around)
    }

    /// What is wrong with the rule; the field first.
    pub(crate) fn problem(&self, in_wish: bool) -> Option<(&'static str, &'static str)> {
        if in_wish {
            if !self.host.is_empty() {
                return Some(("host", "a wish names no folder of the host"));
            }
            if self.guest == ANY {
                return None;
            }
        } else if !is_plain_absolute(&self.host) {
            return Some(("host", "must be an absolute path without . or .. segments"));
        }
        if !self.guest.starts_with('/') || !is_plain_absolute(&self.guest) {
            return Some(("guest", "must be an absolute path without . or .. segments"));
        }
        None
    }
}

impl fmt::Display for FolderRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rights = if self.write { "read and write" } else { "read" };
        if self.host.is_empty() {
            write!(f, "{}, {rights}", self.guest)?;
        } else {
            write!(f, "{} as {}, {rights}", self.host, self.guest)?;
        }
        match self.quota_bytes {
            Some(bytes) => write!(f, " (at most {bytes} bytes a call)"),
            None => Ok(()),
        }
    }
}

/// Whether a path is absolute, has no `.` or `..` and nothing that a file system cuts at.
fn is_plain_absolute(path: &str) -> bool {
    path.len() <= MAX_PATH_BYTES
        && Path::new(path).is_absolute()
        && !path.contains(|c: char| c.is_control())
        && !path
            .split(['/', '\\'])
            .any(|segment| matches!(segment, "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(host: &str, guest: &str, write: bool, quota_bytes: Option<u64>) -> FolderRule {
        FolderRule {
            host: host.to_owned(),
            guest: guest.to_owned(),
            write,
            quota_bytes,
        }
    }

    #[test]
    fn the_host_path_is_the_grants_and_writing_needs_both() {
        let grant = folder("/srv/data", "/data", true, Some(100));
        let read = grant
            .limited_to(&[folder("", "/data", false, None)])
            .expect("granted");
        assert_eq!(read, folder("/srv/data", "/data", false, Some(100)));
        let write = grant
            .limited_to(&[folder("/etc", "*", true, Some(10))])
            .expect("granted");
        assert_eq!(write, folder("/srv/data", "/data", true, Some(10)));
        assert_eq!(grant.limited_to(&[folder("", "/other", true, None)]), None);
        let read_only = folder("/srv/data", "/data", false, None);
        let limited = read_only.limited_to(&[folder("", "/data", true, Some(1 << 40))]);
        assert_eq!(
            limited,
            Some(read_only),
            "a wish widens neither rights nor quota"
        );
    }

    #[test]
    fn a_quota_narrows_a_folder_that_has_none_and_never_widens_it() {
        let grant = folder("/srv", "/data", true, None);
        let limited = |quota| {
            let limited = grant.limited_to(&[folder("", "/data", true, quota)]);
            limited.expect("granted")
        };
        assert_eq!(limited(Some(10)).quota_bytes, Some(10));
        assert_eq!(limited(None).quota_bytes, None);
        assert_eq!(limited(Some(u64::MAX)).quota_bytes, None);
        assert!(grant.covers(&limited(Some(10))) && !limited(Some(10)).covers(&grant));
        let wide = folder("/srv", "/data", true, Some(u64::MAX));
        assert!(!grant.covers(&wide));
        let two = [
            folder("", "/data", true, Some(10)),
            folder("", "*", true, None),
        ];
        let both = grant.limited_to(&two).expect("granted");
        assert_eq!(
            both.quota_bytes, None,
            "one wish is content with the grant's"
        );
    }

    #[test]
    fn malformed_paths_are_named() {
        for (host, guest, field) in [
            ("srv", "/data", "host"),
            ("", "/data", "host"),
            ("/srv/../etc", "/data", "host"),
            ("/srv", "data", "guest"),
            ("/srv", "/data/..", "guest"),
            ("/srv", "/a\0b", "guest"),
            ("/srv", "*", "guest"),
        ] {
            let problem = folder(host, guest, false, None).problem(false);
            assert_eq!(
                problem.map(|(field, _)| field),
                Some(field),
                "{host:?} {guest:?}"
            );
        }
        assert_eq!(
            folder("/srv/data", "/data", true, None).problem(false),
            None
        );
        assert_eq!(folder("", "*", false, None).problem(true), None);
        assert!(folder("/srv", "/data", false, None).problem(true).is_some());
    }
}
