use std::time::Instant;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use super::*;

fn key(byte: u8) -> TokenKey {
    TokenKey::new(Zeroizing::new([byte; KEY_BYTES]))
}

fn session() -> Session {
    Session::new(UserId::random(), refresh_expires_at(Timestamp::now()))
}

fn later(at: Timestamp, seconds: u64) -> Timestamp {
    after(at, Duration::from_secs(seconds))
}

#[test]
fn an_access_token_says_who_and_which_sign_in_for_a_quarter_of_an_hour() {
    let (key, session, now) = (key(1), session(), Timestamp::now());
    let token = key.access_token(&session, now);
    let access = key.check_access(&token, now).unwrap();
    assert_eq!((access.user, access.session), (session.user_id, session.id));
    assert_eq!(seconds(access.issued_at), seconds(now));
    let lifetime = ACCESS_LIFETIME.as_secs();
    assert_eq!(access.expires_at, later(access.issued_at, lifetime));
    assert!(key.check_access(&token, later(now, lifetime)).is_ok());
    let over = later(now, lifetime + LEEWAY.as_secs());
    assert_eq!(key.check_access(&token, over), Err(TokenError::Expired));
}

#[test]
fn a_refresh_token_says_its_generation_and_ends_with_the_sign_in() {
    let (key, mut session) = (key(1), session());
    session.generation = 7;
    let token = key.refresh_token(&session);
    let now = session.refreshed_at;
    let refresh = key.check_refresh(&token, now).unwrap();
    assert_eq!(
        (refresh.user, refresh.session),
        (session.user_id, session.id)
    );
    assert_eq!(refresh.generation, 7);
    assert_eq!(seconds(refresh.expires_at), seconds(session.expires_at));
    let over = later(session.expires_at, LEEWAY.as_secs());
    assert_eq!(key.check_refresh(&token, over), Err(TokenError::Expired));
}

#[test]
fn neither_kind_passes_for_the_other() {
    let (key, session, now) = (key(1), session(), Timestamp::now());
    let (access, refresh) = (key.access_token(&session, now), key.refresh_token(&session));
    assert_eq!(key.check_refresh(&access, now), Err(TokenError::WrongKind));
    assert_eq!(key.check_access(&refresh, now), Err(TokenError::WrongKind));
}

#[test]
fn another_keys_tokens_are_forged() {
    let now = Timestamp::now();
    let token = key(1).access_token(&session(), now);
    assert_eq!(key(2).check_access(&token, now), Err(TokenError::Forged));
}

#[test]
fn a_token_with_any_character_changed_does_not_count() {
    let (key, now) = (key(1), Timestamp::now());
    let token = key.access_token(&session(), now);
    for place in 0..token.len() {
        for other in ["A", "B", "w", "."] {
            if &token[place..=place] != other {
                let changed = format!("{}{other}{}", &token[..place], &token[place + 1..]);
                assert!(
                    key.check_access(&changed, now).is_err(),
                    "{place}: {changed}"
                );
            }
        }
        assert!(key.check_access(&token[..place], now).is_err(), "{place}");
    }
    for changed in [
        format!("{token}A"),
        format!("{token}="),
        format!(" {token}"),
    ] {
        assert!(key.check_access(&changed, now).is_err(), "{changed}");
    }
}

#[test]
fn no_other_algorithm_counts_whatever_the_header_says() {
    let (key, now) = (key(1), Timestamp::now());
    let token = key.access_token(&session(), now);
    let mut parts = token.split('.');
    let (payload, signature) = (parts.nth(1).unwrap(), parts.next().unwrap());
    for header in [
        r#"{"alg":"none","typ":"JWT"}"#,
        r#"{"alg":"None"}"#,
        r#"{"alg":"HS512","typ":"JWT"}"#,
        r#"{"alg":"RS256","typ":"JWT","jwk":{}}"#,
        r#"{"typ":"JWT","alg":"HS256"}"#,
        "",
    ] {
        let header = URL_SAFE_NO_PAD.encode(header);
        for signature in [signature, ""] {
            let token = format!("{header}.{payload}.{signature}");
            let checked = key.check_access(&token, now);
            assert_eq!(checked, Err(TokenError::Forged), "{token}");
        }
    }
}

#[test]
fn what_is_no_token_is_malformed() {
    let (key, now) = (key(1), Timestamp::now());
    let session = session();
    let (user, session) = (session.user_id, session.id);
    let signed = |claims: String| jws::sign(&*key.0, claims.as_bytes());
    for text in [
        String::new(),
        ".".to_owned(),
        "a.b.c.d".to_owned(),
        "installation-token".to_owned(),
        "x".repeat(1 << 20),
        format!("{}{}", signed("{}".to_owned()), "x".repeat(TOKEN_BYTES_MAX)),
        signed("no JSON".to_owned()),
        signed("{}".to_owned()),
        signed(format!(
            r#"{{"typ":"refresh","sub":"{user}","sid":"{session}","iat":0,"exp":9999999999}}"#
        )),
        signed(format!(
            r#"{{"typ":"refresh","sub":"{session}","sid":"{user}","gen":0,"iat":0,"exp":9999999999}}"#
        )),
        signed(format!(
            r#"{{"typ":"refresh","sub":"{user}","sid":"{session}","gen":0,"iat":0,"exp":"never"}}"#
        )),
    ] {
        let checked = key.check_refresh(&text, now);
        assert_eq!(checked, Err(TokenError::Malformed), "{text:.200}");
    }
    // Of the right form, with a header that is none of ours.
    for text in ["..", "é.ü.ö"] {
        assert_eq!(key.check_refresh(text, now), Err(TokenError::Forged));
    }
}

#[test]
fn times_beyond_all_calendars_do_no_harm() {
    let key = key(1);
    let mut session = session();
    for micros in [i64::MIN, i64::MAX] {
        let extreme = Timestamp::from_micros(micros);
        session.expires_at = extreme;
        let _ = key.check_refresh(&key.refresh_token(&session), extreme);
        let _ = key.check_access(&key.access_token(&session, extreme), extreme);
    }
}

#[test]
fn a_token_fits_far_below_what_is_looked_at_and_no_key_is_shown() {
    let key = key(0xab);
    let mut session = session();
    session.generation = u32::MAX;
    assert!(key.refresh_token(&session).len() < TOKEN_BYTES_MAX / 2);
    assert_eq!(format!("{key:?}"), "TokenKey(…)");
}

#[test]
fn a_check_takes_far_less_than_whoever_waits_for_it_would_notice() {
    let (key, now) = (key(1), Timestamp::now());
    let token = key.access_token(&session(), now);
    let mut spent: Vec<Duration> = (0..1001)
        .map(|_| {
            let begin = Instant::now();
            assert!(key.check_access(&token, now).is_ok());
            begin.elapsed()
        })
        .collect();
    spent.sort_unstable();
    let median = spent[spent.len() / 2];
    // The promise is made for an optimised build; an unoptimised one takes several times as long.
    assert!(median <= Duration::from_micros(50), "{median:?}");
}
