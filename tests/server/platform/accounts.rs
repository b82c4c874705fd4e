//! Accounts, sign-ins and their tokens.

use std::time::Duration;

use bulkhead_store::Store;
use reqwest::Method;
use serde_json::json;

use super::{PASSWORD, Person, ask, key, login, register};
use crate::{
    both::on_both,
    clients::text,
    support::{Answer, TestServer},
};

const ME: &str = "/api/v1/users/me";

on_both! {
    async fn who_registers_signs_in_and_is_somebody(server) {
        let made = register(&server, "  Ada@Example.COM ", PASSWORD).await;
        assert_eq!(made.status, 201, "{made:?}");
        assert_eq!(made.body["email"], "ada@example.com");
        assert_eq!(made.body["is_superuser"], false);
        assert!(!made.text.contains(PASSWORD) && !made.text.contains("argon2"), "{made:?}");
        let tokens = login(&server, "ADA@example.com", PASSWORD).await;
        assert_eq!(tokens.status, 200, "{tokens:?}");
        assert_eq!(tokens.body["token_type"], "bearer");
        assert_eq!(tokens.body["expires_in"], 900);
        assert_eq!(tokens.headers["cache-control"], "no-store");
        let token = text(&tokens.body["access_token"]);
        let me = ask(&server, Some(token), Method::GET, ME, None).await;
        assert_eq!(me.body["id"], made.body["id"]);
        let names = json!({ "first_name": "Augusta" });
        let me = ask(&server, Some(token), Method::PATCH, ME, Some(&names)).await;
        assert_eq!((&me.body["first_name"], &me.body["last_name"]), (&json!("Augusta"), &json!("King")));
    }

    async fn an_address_has_one_account_and_a_password_is_not_guessed(server) {
        Person::new(&server, "ada").await;
        let again = register(&server, "Ada@example.com", PASSWORD).await;
        assert_eq!(again.refusal(), (409, "email_taken"));
        for (email, password, code, place) in [
            ("b@example.com", "password", "weak_password", "/password"),
            ("b@example.com", "short", "weak_password", "/password"),
            ("b@example.com", "b@example.com", "weak_password", "/password"),
            ("nobody", PASSWORD, "invalid_body", "/email"),
            ("b@example", PASSWORD, "invalid_body", "/email"),
        ] {
            let refused = register(&server, email, password).await;
            assert_eq!(refused.refusal(), (422, code), "{email} {password}: {refused:?}");
            assert_eq!(refused.places(), [place]);
        }
        assert_eq!(login(&server, "b@example.com", "password").await.refusal(), (401, "wrong_password"));
    }

    async fn an_unknown_address_and_a_wrong_password_are_refused_alike(server) {
        let ada = Person::new(&server, "ada").await;
        let wrong = login(&server, &ada.email, "another-Horse-7-battery").await;
        let unknown = login(&server, "nobody@example.com", PASSWORD).await;
        let none = login(&server, "no address", PASSWORD).await;
        for refused in [&wrong, &unknown, &none] {
            assert_eq!(refused.refusal(), (401, "wrong_password"));
            assert_eq!(refused.text, wrong.text);
        }
    }

    async fn a_refresh_token_counts_once_and_a_second_use_ends_the_sign_in(server) {
        let ada = Person::new(&server, "ada").await;
        let path = "/api/v1/auth/refresh";
        let first = server.post(path, &json!({ "refresh_token": ada.refresh })).await;
        assert_eq!(first.status, 200, "{first:?}");
        let token = text(&first.body["access_token"]);
        let me = ask(&server, Some(token), Method::GET, ME, None).await;
        assert_eq!(me.status, 200);
        let reused = server.post(path, &json!({ "refresh_token": ada.refresh })).await;
        assert_eq!(reused.refusal(), (401, "token_reused"));
        let next = json!({ "refresh_token": first.body["refresh_token"] });
        assert_eq!(server.post(path, &next).await.refusal(), (401, "unauthorized"));
        let me = ask(&server, Some(token), Method::GET, ME, None).await;
        assert_eq!(me.refusal(), (401, "unauthorized"), "the access token of the family is out too");
    }

    async fn a_token_that_counts_no_more_keeps_nobody_from_signing_in(server) {
        let ada = Person::new(&server, "ada").await;
        ada.ask(&server, Method::POST, "/api/v1/auth/logout").await;
        let body = json!({ "email": ada.email, "password": PASSWORD });
        let again = ada.post(&server, "/api/v1/auth/login", &body).await;
        assert_eq!(again.status, 200, "{again:?}");
        let next = json!({ "refresh_token": again.body["refresh_token"] });
        let next = ada.post(&server, "/api/v1/auth/refresh", &next).await;
        assert_eq!(next.status, 200, "{next:?}");
    }

    async fn a_token_counts_until_it_expires_and_says_so_then(server) {
        let ada = Person::new(&server, "ada").await;
        let minute = ada.token_for(&server, Some(Duration::from_secs(60)));
        let expired = ada.token_for(&server, None);
        for path in [ME, "/api/v1/projects", "/v1/agents/"] {
            let answer = ask(&server, Some(&minute), Method::GET, path, None).await;
            assert_eq!(answer.status, 200, "{path}: {answer:?}");
            let refused = ask(&server, Some(&expired), Method::GET, path, None).await;
            assert_eq!(refused.refusal(), (401, "unauthorized"), "{path}");
            assert!(refused.text.contains("the access token has expired"), "{refused:?}");
        }
        // Clients send it along when they ask for the next one.
        let body = json!({ "refresh_token": ada.refresh });
        let path = "/api/v1/auth/refresh";
        let next = ask(&server, Some(&expired), Method::POST, path, Some(&body)).await;
        assert_eq!(next.status, 200, "{next:?}");
        let next = text(&next.body["access_token"]);
        assert_eq!(ask(&server, Some(next), Method::GET, ME, None).await.status, 200);
    }

    async fn sign_ins_that_ended_long_ago_are_forgotten_and_others_are_kept(server) {
        let mut server = server;
        let ada = Person::new(&server, "ada").await;
        let old = ada.session(&server);
        ada.ask(&server, Method::POST, "/api/v1/auth/logout").await;
        let bob = Person::new(&server, "bob").await;
        bob.ask(&server, Method::POST, "/api/v1/auth/logout").await;
        let ended = bob.session(&server);
        let eve = Person::new(&server, "eve").await;
        let long_ago = format!("UPDATE sessions SET ended_at = 1 WHERE id = '{old}'");
        server.database().script(&long_ago).await;
        // It looks when it has started.
        server.restart().await;
        let store = Store::open(server.database().url(), key(&server)).await.unwrap();
        let forgotten = async {
            while store.session(old).await.unwrap().is_some() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), forgotten).await.unwrap();
        assert!(store.session(ended).await.unwrap().is_some(), "it ended a moment ago");
        assert_eq!(eve.get(&server, ME).await.status, 200);
    }

    async fn a_refusal_repeats_no_password(server) {
        let body = json!({ "email": "ada@example.com", "password": 12_345_678 });
        for path in ["/api/v1/auth/register", "/api/v1/auth/login"] {
            let refused = server.post(path, &body).await;
            assert_eq!(refused.refusal(), (422, "invalid_body"));
            assert!(!refused.text.contains("12345678"), "{refused:?}");
        }
    }

    async fn who_signs_out_is_out_at_once(server) {
        let ada = Person::new(&server, "ada").await;
        let other = login(&server, &ada.email, PASSWORD).await;
        let other = text(&other.body["access_token"]);
        assert_eq!(ada.get(&server, ME).await.status, 200);
        let out = ada.ask(&server, Method::POST, "/api/v1/auth/logout").await;
        assert_eq!(out.status, 200, "{out:?}");
        assert_eq!(ada.get(&server, ME).await.refusal(), (401, "unauthorized"));
        let refresh = json!({ "refresh_token": ada.refresh });
        let refused = server.post("/api/v1/auth/refresh", &refresh).await;
        assert_eq!(refused.refusal(), (401, "unauthorized"));
        let me = ask(&server, Some(other), Method::GET, ME, None).await;
        assert_eq!(me.status, 200, "another sign-in goes on");
        let everywhere = "/api/v1/auth/logout?everywhere=true";
        ask(&server, Some(other), Method::POST, everywhere, None).await;
        let me = ask(&server, Some(other), Method::GET, ME, None).await;
        assert_eq!(me.status, 401);
    }

    async fn another_password_ends_all_other_sign_ins(server) {
        let ada = Person::new(&server, "ada").await;
        let other = login(&server, &ada.email, PASSWORD).await;
        let other = text(&other.body["access_token"]).to_owned();
        assert_eq!(ask(&server, Some(&other), Method::GET, ME, None).await.status, 200);
        let path = "/api/v1/users/me/password";
        let newer = "wrong-Staple-9-paper";
        let change = |current: &str, new: &str| json!({ "current_password": current, "new_password": new });
        let wrong = ada.post(&server, path, &change("x", newer)).await;
        assert_eq!(wrong.refusal(), (400, "wrong_current_password"));
        let weak = ada.post(&server, path, &change(PASSWORD, "12345678")).await;
        assert_eq!((weak.refusal(), weak.places()), ((422, "weak_password"), vec!["/new_password"]));
        let changed = ada.post(&server, path, &change(PASSWORD, newer)).await;
        assert_eq!(changed.status, 200, "{changed:?}");
        assert_eq!(ada.get(&server, ME).await.status, 200);
        assert_eq!(ask(&server, Some(&other), Method::GET, ME, None).await.status, 401);
        assert_eq!(login(&server, &ada.email, PASSWORD).await.status, 401);
        assert_eq!(login(&server, &ada.email, newer).await.status, 200);
    }

    async fn a_superuser_locks_somebody_out(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        assert_eq!(ada.get(&server, ME).await.status, 200);
        let user = format!("/api/v1/users/{}", ada.id);
        let locked = root.patch(&server, &user, &json!({ "is_active": false })).await;
        assert_eq!((locked.status.as_u16(), &locked.body["is_active"]), (200, &json!(false)));
        assert_eq!(ada.get(&server, ME).await.refusal(), (401, "unauthorized"));
        assert_eq!(login(&server, &ada.email, PASSWORD).await.refusal(), (401, "wrong_password"));
        let own = format!("/api/v1/users/{}", root.id);
        let refused = root.patch(&server, &own, &json!({ "is_superuser": false })).await;
        assert_eq!(refused.refusal(), (409, "conflict"));
        let list = root.get(&server, "/api/v1/users?is_active=true&page_size=1").await;
        assert_eq!(list.body["pagination"]["total"], 1, "{list:?}");
        assert_eq!(list.body["data"][0]["email"], "root@example.com");
    }

    async fn tokens_that_are_none_of_ours_are_refused(server) {
        let ada = Person::new(&server, "ada").await;
        let (head, signature) = ada.token.rsplit_once('.').unwrap();
        let turned: String = signature.chars().rev().collect();
        let (_, rest) = ada.token.split_once('.').unwrap();
        for token in [
            format!("{head}.{turned}"),
            format!("{head}."),
            // {"alg":"none"}
            format!("eyJhbGciOiJub25lIn0.{rest}"),
            ada.refresh.clone(),
            "eyJhbGciOiJub25lIn0.e30.".to_owned(),
            "sk-something".to_owned(),
        ] {
            let refused = ask(&server, Some(&token), Method::GET, ME, None).await;
            assert_eq!(refused.refusal(), (401, "unauthorized"), "{token}");
            if token.starts_with("eyJ") {
                let refused = ask(&server, Some(&token), Method::GET, "/v1/agents/", None).await;
                assert_eq!(refused.status, 401, "{token} is nobody on /v1 either");
            }
        }
    }

    async fn passwords_are_not_tried_for_ever(server) {
        let ada = Person::new(&server, "ada").await;
        let mut refused = None;
        for _ in 0..40 {
            let answer = login(&server, &ada.email, "another-Horse-7-battery").await;
            if answer.status == 429 {
                refused = Some(answer);
                break;
            }
            assert_eq!(answer.status, 401);
        }
        let refused = refused.expect("tries come to an end");
        assert_eq!(refused.refusal(), (429, "too_many_attempts"));
        let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!(wait > 0);
        let right = login(&server, &ada.email, PASSWORD).await;
        assert_eq!(right.status, 429, "the right one is tried no more often");
        let other = Person::new(&server, "bob").await;
        assert_eq!(other.get(&server, ME).await.status, 200);
    }
}

#[tokio::test]
async fn beyond_this_machine_registration_is_closed_unless_it_is_opened() {
    for (registration, expected) in [
        (None, (403, "registration_closed")),
        (Some(false), (403, "registration_closed")),
        (Some(true), (201, "")),
    ] {
        let server = TestServer::start_with(|config| {
            config.listen.set_ip(std::net::Ipv4Addr::UNSPECIFIED.into());
            config.token = Some("t0ken".to_owned());
            config.registration = registration;
        })
        .await;
        let url = format!("http://127.0.0.1:{}", server.address().port());
        let body = json!({ "email": "ada@example.com", "password": PASSWORD });
        let answer = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = answer
            .post(format!("{url}/api/v1/auth/register"))
            .json(&body);
        let answer = Answer::read(answer.send().await.unwrap()).await;
        let code = answer.body["error"]["code"].as_str().unwrap_or_default();
        assert_eq!((answer.status.as_u16(), code), expected, "{registration:?}");
    }
}

#[tokio::test]
async fn registration_can_be_closed_to_all_but_who_runs_the_server() {
    let server = TestServer::start_with(|config| {
        config.registration = Some(false);
        config.token = Some("t0ken".to_owned());
    })
    .await;
    let refused = register(&server, "ada@example.com", PASSWORD).await;
    assert_eq!(refused.refusal(), (403, "registration_closed"));
    let body = json!({ "email": "ada@example.com", "password": PASSWORD });
    let path = "/api/v1/auth/register";
    let made = ask(&server, Some("t0ken"), Method::POST, path, Some(&body)).await;
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(
        login(&server, "ada@example.com", PASSWORD).await.status,
        200
    );
}
