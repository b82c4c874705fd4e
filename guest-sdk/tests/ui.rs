//! What the attribute accepts, and what it says about the rest.
//!
//! `TRYBUILD=overwrite cargo test -p bulkhead-sdk --test ui` writes the messages anew.

#[test]
fn the_attribute_accepts_and_refuses_with_these_messages() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
