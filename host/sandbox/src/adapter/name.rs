//! The names by which plain functions are called as tools.
//!
//! A function at the root keeps its name; a function of an interface has the interface before
//! it, always, so that its name stays when the component gains another export:
//! `text:tools/numbers@1.0.0#sum-up` is `text_tools_numbers__sum_up`. Where that is too long, or
//! two functions would have the same name, part of the digest of the function's path follows.

use std::collections::HashMap;

use bulkhead_domain::Digest;

/// What model providers accept: `^[a-zA-Z0-9_-]{1,64}$`.
const MAX_NAME_BYTES: usize = 64;
/// Hex digits of the digest: enough for the functions of one component.
const DIGEST_DIGITS: usize = 8;

/// Where a function is exported: `interface#function`, or `function` at the root.
pub(super) fn path(interface: Option<&str>, function: &str) -> String {
    match interface {
        Some(interface) => format!("{interface}#{function}"),
        None => function.to_owned(),
    }
}

/// The names of the functions at `paths`, in the same order, each different.
pub(super) fn unique(paths: &[&str]) -> Vec<String> {
    let names: Vec<_> = paths.iter().map(|path| plain(path)).collect();
    let mut uses = HashMap::<&str, usize>::new();
    for name in &names {
        *uses.entry(name).or_default() += 1;
    }
    let pairs = names.iter().zip(paths);
    pairs
        .map(|(name, path)| {
            let fits = name.len() <= MAX_NAME_BYTES && uses[name.as_str()] == 1;
            if fits {
                name.clone()
            } else {
                with_digest(name, path)
            }
        })
        .collect()
}

/// The name without regard to its length and to other names.
fn plain(path: &str) -> String {
    let Some((interface, function)) = path.split_once('#') else {
        return identifier(path);
    };
    let unversioned = interface
        .split_once('@')
        .map_or(interface, |(name, _)| name);
    format!("{}__{}", identifier(unversioned), identifier(function))
}

fn with_digest(name: &str, path: &str) -> String {
    let digest = Digest::of(path.as_bytes()).hex();
    // Identifiers are ASCII: every byte is a boundary.
    let kept = &name[..name.len().min(MAX_NAME_BYTES - DIGEST_DIGITS - 1)];
    format!("{kept}_{}", &digest[..DIGEST_DIGITS])
}

fn identifier(wit: &str) -> String {
    let valid = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    wit.chars().map(valid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_namespace_and_drops_the_version() {
        let names = unique(&[
            "sum-up",
            "numbers#sum-up",
            "text:tools/numbers@1.0.0#sum-up",
        ]);
        assert_eq!(
            names,
            ["sum_up", "numbers__sum_up", "text_tools_numbers__sum_up"]
        );
    }

    #[test]
    fn functions_whose_names_would_be_the_same_are_told_apart() {
        let paths = [
            "a:b/c@1.0.0#f",
            "a:b/c@2.0.0#f",
            "a:b-c/d#f",
            "a:b/c-d#f",
            "g",
        ];
        let names = unique(&paths);
        let mut different = names.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), paths.len(), "{names:?}");
        assert_eq!(names[4], "g");
    }

    #[test]
    fn a_long_name_is_cut_to_what_providers_accept() {
        let long = format!("a:{}/c#{}", "b".repeat(80), "f".repeat(80));
        let longer = format!("{long}g");
        let names = unique(&[&long, &longer]);
        assert!(
            names.iter().all(|name| name.len() == MAX_NAME_BYTES),
            "{names:?}"
        );
        assert_ne!(names[0], names[1]);
    }
}
