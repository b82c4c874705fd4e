//! Any text as a URL: nothing panics, a normal form is its own normal form, and no literal
//! address that is not public passes a rule for any host.
#![no_main]

use bulkhead_policy::{HttpRule, Target};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (&str, &str)| {
    let (text, reference) = data;
    let Ok(target) = Target::parse(text) else {
        return;
    };
    let again = Target::parse(target.url().as_str()).expect("a normal form is a URL");
    assert_eq!(again, target, "a normal form is its own normal form");
    assert!(
        !target.url().as_str().contains('@') || target.url().authority() == host_and_port(&target)
    );

    let any: HttpRule = format!("any://*:{}", target.port().max(1))
        .parse()
        .expect("a rule");
    if let Some(address) = target.address() {
        assert_eq!(
            any.opens(address),
            bulkhead_policy::address::is_public(address)
        );
        // The text of a literal is one that the system would connect to as it stands.
        assert!(target.host().to_string().trim_matches(['[', ']']).parse() == Ok(address));
    }
    if let Ok(own) = target.origin().to_string().parse::<HttpRule>() {
        assert!(
            own.matches(&target, "GET"),
            "an origin's own rule allows it"
        );
        assert!(!own.matches(&target, "CONNECT"));
        let mut limited = own.clone();
        limited.path = "/v1".to_owned();
        assert!(!limited.matches(&target, "GET") || target.path().starts_with("/v1"));
        if let Ok(next) = target.join(reference) {
            assert_eq!(
                own.matches(&next, "GET"),
                next.same_origin(&target),
                "{target} {next}"
            );
        }
    }
});

fn host_and_port(target: &Target) -> String {
    let origin = target.origin().to_string();
    origin
        .split_once("://")
        .map(|(_, rest)| rest.to_owned())
        .unwrap_or_default()
}
