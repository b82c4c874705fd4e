//! Any two JSON texts as a grant and a wish: nothing panics, and no intersection is wider than
//! its grant.
#![no_main]

use bulkhead_policy::{Capabilities, Diff, HttpRule};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (&str, &str)| {
    let (grant, wish) = data;
    if let Ok(rule) = grant.parse::<HttpRule>() {
        assert!(rule.covers(&rule), "a rule covers itself");
        let json = serde_json::to_string(&rule).expect("a rule is JSON");
        assert_eq!(json.parse(), Ok(rule), "a rule reads back");
    }
    let Ok(grant) = serde_json::from_str::<Capabilities>(grant) else {
        return;
    };
    let canonical = grant.canonical_json();
    let again: Capabilities = serde_json::from_str(&canonical).expect("canonical JSON reads back");
    assert_eq!(
        again.canonical_json(),
        canonical,
        "canonical JSON is a fixed point"
    );
    assert!(
        grant.covers(&again) && again.covers(&grant),
        "order changes nothing"
    );
    if grant.validate().is_ok() {
        assert!(!Diff::between(&grant, &again).is_wider());
    }

    let Ok(wish) = serde_json::from_str::<Capabilities>(wish) else {
        return;
    };
    let limited = grant.limited_to(&wish);
    assert!(
        grant.covers(&limited),
        "{canonical} limited to {}",
        limited.canonical_json()
    );
    let twice = limited.limited_to(&wish);
    assert!(limited.covers(&twice), "narrowing again widens nothing");
    if grant.validate().is_ok() && wish.validate_wish().is_ok() {
        let mut union = grant.clone();
        union.union(&limited);
        assert!(union.covers(&limited), "a union covers what was added");
    }
});
