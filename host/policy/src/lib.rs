//! What a tool may do: wishes, grants, limits and the rules of the network.
//!
//! A component *wishes* for capabilities (readable without running it), a person *grants*
//! some, a caller may *narrow* them further. All three are [`Capabilities`]; a call gets the
//! intersection ([`Capabilities::limited_to`]). Everything here is parsed once and matched
//! without allocating, and nothing here does I/O.
//!
//! - [`capabilities`]: the set, its intersection and its comparison.
//! - [`target`]: a URL in the one form that rules are matched against.
//! - [`host_pattern`], [`http_rule`], [`rule_text`]: which requests may leave.
//! - [`address`]: which addresses are public.
//! - [`cidr`]: ranges of addresses that a grant opens.
//! - [`folder`]: directories of the host that a guest sees.
//! - [`limits`]: fuel, time, memory and every byte cap of a call.
//! - [`validate`]: what is wrong with a grant or a wish, field by field.
//! - [`diff`]: what a new version wants more than the old one.

pub mod address;
pub mod capabilities;
pub mod cidr;
pub mod diff;
pub mod folder;
pub mod host_pattern;
pub mod http_rule;
pub mod limits;
mod names;
mod path;
pub mod rule_text;
pub mod target;
pub mod validate;

pub use capabilities::{Capabilities, MemoryRule};
pub use cidr::Cidr;
pub use diff::{Change, Diff};
pub use folder::FolderRule;
pub use host_pattern::HostPattern;
pub use http_rule::{HttpRule, Scheme};
pub use limits::Limits;
pub use target::{Target, TargetError};
