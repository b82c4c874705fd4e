//! Rights and passwords that change while somebody uses them, and how often they may be tried.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use super::{PASSWORD, Person, ask, login, register};
use crate::{
    both::on_both,
    clients::{each, text},
    support::{Answer, TestServer},
};

const ME: &str = "/api/v1/users/me";
const WRONG: &str = "another-Horse-7-battery";

/// Puts somebody into a project.
async fn put(
    server: &TestServer,
    person: &Person,
    project: &str,
    whom: &str,
    role: &str,
) -> Answer {
    let path = format!("{project}/members/{whom}");
    let body = json!({ "role": role });
    ask(server, Some(&person.token), Method::PUT, &path, Some(&body)).await
}

async fn project_of(server: &TestServer, person: &Person) -> String {
    let body = json!({ "name": "Project", "slug": "p" });
    let project = person.made(server, "/api/v1/projects", &body).await;
    format!("/api/v1/projects/{}", text(&project["id"]))
}

/// A sign-in that a proxy at this server's own address passes on, for this client.
async fn login_for(server: &TestServer, client: &str, email: &str, password: &str) -> Answer {
    let body = json!({ "email": email, "password": password });
    let request = server.request(Method::POST, "/api/v1/auth/login");
    let request = request.header("x-forwarded-for", client).json(&body);
    Answer::read(request.send().await.unwrap()).await
}

on_both! {
    async fn of_two_changes_with_one_password_one_counts(server) {
        let ada = Person::new(&server, "ada").await;
        let change = |new: &'static str| {
            let body = json!({ "current_password": PASSWORD, "new_password": new });
            let (server, ada) = (&server, &ada);
            async move { ada.post(server, "/api/v1/users/me/password", &body).await }
        };
        let (one, other) = ("wrong-Staple-9-paper", "seven-Maples-4-lantern");
        let (first, second) = tokio::join!(change(one), change(other));
        let (taken, refused, password, lost) = match first.status.as_u16() {
            200 => (first, second, one, other),
            _ => (second, first, other, one),
        };
        assert_eq!(taken.status, 200, "{taken:?}");
        assert_eq!(refused.refusal(), (400, "wrong_current_password"));
        assert_eq!(login(&server, &ada.email, password).await.status, 200);
        assert_eq!(login(&server, &ada.email, lost).await.status, 401);
    }

    async fn who_is_locked_out_during_a_sign_in_learns_nothing(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let user = format!("/api/v1/users/{}", ada.id);
        for _ in 0..5 {
            let signs_in = login(&server, &ada.email, PASSWORD);
            let lock = async {
                tokio::time::sleep(Duration::from_millis(10)).await;
                root.patch(&server, &user, &json!({ "is_active": false })).await
            };
            let (answer, locked) = tokio::join!(signs_in, lock);
            assert_eq!(locked.status, 200, "{locked:?}");
            assert!(!answer.text.contains(&ada.id), "{answer:?}");
            if answer.status != 200 {
                assert_eq!(answer.refusal(), (401, "wrong_password"));
            }
            root.patch(&server, &user, &json!({ "is_active": true })).await;
        }
    }

    async fn a_superuser_who_is_none_any_more_is_refused_at_once(server) {
        let root = Person::superuser(&server, "root").await;
        let second = Person::superuser(&server, "second").await;
        for path in ["/api/v1/users", "/v1/components"] {
            assert_eq!(second.get(&server, path).await.status, 200, "{path}");
        }
        let user = format!("/api/v1/users/{}", second.id);
        let lowered = root.patch(&server, &user, &json!({ "is_superuser": false })).await;
        assert_eq!(lowered.body["is_superuser"], false, "{lowered:?}");
        for path in ["/api/v1/users", "/v1/components"] {
            assert_eq!(second.get(&server, path).await.refusal(), (403, "forbidden"), "{path}");
        }
        assert_eq!(second.get(&server, ME).await.status, 200, "the sign-in goes on");
    }

    async fn what_is_ended_on_one_server_ends_on_the_others_within_seconds(server) {
        let other = server.beside().await;
        let root = Person::superuser(&server, "root").await;
        let people = [
            Person::new(&server, "ada").await, Person::new(&server, "bob").await,
            Person::superuser(&server, "eve").await,
        ];
        let [ada, bob, eve] = &people;
        for person in &people {
            assert_eq!(person.get(&other, ME).await.status, 200);
        }
        assert_eq!(eve.get(&other, "/api/v1/users").await.status, 200);
        ada.ask(&server, Method::POST, "/api/v1/auth/logout").await;
        for (person, change) in [(bob, json!({ "is_active": false })), (eve, json!({ "is_superuser": false }))] {
            let changed = root.patch(&server, &format!("/api/v1/users/{}", person.id), &change).await;
            assert_eq!(changed.status, 200, "{changed:?}");
        }
        tokio::time::sleep(Duration::from_secs(4)).await;
        assert_eq!(ada.get(&other, ME).await.refusal(), (401, "unauthorized"));
        assert_eq!(bob.get(&other, ME).await.refusal(), (401, "unauthorized"));
        assert_eq!(eve.get(&other, ME).await.status, 200);
        assert_eq!(eve.get(&other, "/api/v1/users").await.refusal(), (403, "forbidden"));
    }

    async fn the_current_password_is_not_tried_for_ever_either(server) {
        let ada = Person::new(&server, "ada").await;
        let path = "/api/v1/users/me/password";
        let change = |current: &str| json!({ "current_password": current, "new_password": "wrong-Staple-9-paper" });
        let mut refused = None;
        for _ in 0..40 {
            let answer = ada.post(&server, path, &change(WRONG)).await;
            if answer.status == 429 {
                refused = Some(answer);
                break;
            }
            assert_eq!(answer.refusal(), (400, "wrong_current_password"));
        }
        let refused = refused.expect("tries come to an end");
        assert_eq!(refused.refusal(), (429, "too_many_attempts"));
        assert!(refused.headers.contains_key("retry-after"));
        assert_eq!(ada.post(&server, path, &change(PASSWORD)).await.status, 429);
    }

    async fn nobody_signs_out_without_a_token_whatever_the_query_says(server) {
        for query in ["", "?x=1", "?everywhere=maybe"] {
            let path = format!("/api/v1/auth/logout{query}");
            let refused = ask(&server, None, Method::POST, &path, None).await;
            assert_eq!(refused.refusal(), (401, "unauthorized"), "{query}");
        }
        let ada = Person::new(&server, "ada").await;
        let refused = ada.ask(&server, Method::POST, "/api/v1/auth/logout?x=1").await;
        assert_eq!(refused.refusal(), (422, "invalid_parameter"));
        assert_eq!(ada.get(&server, ME).await.status, 200);
    }

    async fn an_id_tells_nobody_whose_it_is(server) {
        let ada = Person::new(&server, "ada").await;
        let bob = Person::new(&server, "bob").await;
        let project = project_of(&server, &ada).await;
        let nobody = format!("user-{}", crate::clients::NOBODY);
        let refused = put(&server, &ada, &project, &bob.id, "member").await;
        let unknown = put(&server, &ada, &project, &nobody, "member").await;
        assert_eq!(refused.refusal(), (404, "not_found"));
        assert_eq!(refused.text.replace(&bob.id, &nobody), unknown.text);
        let members = ada.get(&server, &format!("{project}/members")).await.body;
        assert_eq!(members["pagination"]["total"], 0);
        let made = put(&server, &ada, &project, &bob.email, "viewer").await;
        assert_eq!((made.status.as_u16(), &made.body["user_id"]), (200, &json!(bob.id)));
        let changed = put(&server, &ada, &project, &bob.id, "member").await;
        assert_eq!((changed.status.as_u16(), &changed.body["role"]), (200, &json!("member")));
        let out = ada.ask(&server, Method::DELETE, &format!("{project}/members/{}", bob.id)).await;
        assert_eq!(out.status, 200, "{out:?}");
        assert_eq!(put(&server, &ada, &project, &bob.id, "member").await.status, 404);
        // Who sees all users anyway puts them in by either.
        let root = Person::superuser(&server, "root").await;
        assert_eq!(put(&server, &root, &project, &bob.id, "member").await.status, 200);
        assert_eq!(put(&server, &root, &project, &nobody, "member").await.status, 404);
    }

    async fn who_asks_for_addresses_spends_their_own_tries(server) {
        let ada = Person::new(&server, "ada").await;
        let bob = Person::new(&server, "bob").await;
        let (project, of_bob) = (project_of(&server, &ada).await, project_of(&server, &bob).await);
        // Those who are there cost nothing.
        for _ in 0..12 {
            assert_eq!(put(&server, &ada, &project, &bob.email, "viewer").await.status, 200);
        }
        let mut refused = None;
        for number in 0..40 {
            let answer = put(&server, &ada, &project, &format!("n{number}@example.com"), "viewer").await;
            if answer.status == 429 {
                refused = Some(answer);
                break;
            }
            assert_eq!(answer.refusal(), (404, "not_found"));
        }
        let refused = refused.expect("tries come to an end");
        assert_eq!(refused.refusal(), (429, "too_many_attempts"));
        let out = format!("{project}/members/n1@example.com");
        assert_eq!(ada.ask(&server, Method::DELETE, &out).await.status, 429);
        assert_eq!(put(&server, &bob, &of_bob, &ada.email, "viewer").await.status, 200);
        assert_eq!(login(&server, "n0@example.com", PASSWORD).await.status, 401, "that address has all its tries");
    }

    async fn lists_have_what_their_filters_say(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let types = "/api/v1/agent-types";
        let mut made = Vec::new();
        for (slug, name, is_active) in [("one", "Weather teller", true), ("two", "Cook", true), ("off", "Old cook", false)] {
            let mut body = super::type_body(slug);
            body["name"] = json!(name);
            body["is_active"] = json!(is_active);
            made.push(root.made(&server, types, &body).await);
        }
        let listed = async |path: &str| {
            let list = ada.get(&server, path).await;
            assert_eq!(list.status, 200, "{path}: {list:?}");
            let data = each(&list.body["data"], "name");
            assert_eq!(list.body["pagination"]["total"], data.len());
            data.into_iter().map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
        };
        let names = |names: &[&str]| -> std::collections::BTreeSet<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        assert_eq!(listed(&format!("{types}?is_active=false")).await, names(&["Old cook"]));
        assert_eq!(listed(&format!("{types}?is_active=true")).await, names(&["Weather teller", "Cook"]));
        assert_eq!(listed(&format!("{types}?search=COOK")).await, names(&["Cook", "Old cook"]));
        assert_eq!(listed(&format!("{types}?search=cook&is_active=true")).await, names(&["Cook"]));
        let taken = json!({ "slug": "two" });
        let other = format!("{types}/{}", text(&made[0]["id"]));
        assert_eq!(root.patch(&server, &other, &taken).await.refusal(), (409, "slug_taken"));
        assert_eq!(ada.get(&server, &other).await.body["slug"], "one");

        let project = project_of(&server, &ada).await;
        let second = json!({ "name": "Second", "slug": "second" });
        let second = ada.made(&server, "/api/v1/projects", &second).await;
        assert_eq!(listed("/api/v1/projects?search=secO").await, names(&["Second"]));
        let second = format!("/api/v1/projects/{}", text(&second["id"]));
        let refused = ada.patch(&server, &second, &json!({ "slug": "p" })).await;
        assert_eq!(refused.refusal(), (409, "slug_taken"));
        assert_eq!(ada.get(&server, &second).await.body["slug"], "second");

        let agents = format!("{project}/agents");
        for (name, of_type, becomes) in [("A", 0, None), ("B", 0, Some("pause")), ("C", 1, Some("")), ("D", 1, None)] {
            let body = json!({ "agent_type_id": made[of_type]["id"], "name": name });
            let agent = ada.made(&server, &agents, &body).await;
            let agent = format!("{agents}/{}", text(&agent["id"]));
            match becomes {
                None => {}
                Some("") => drop(ada.ask(&server, Method::DELETE, &agent).await),
                Some(action) => drop(ada.ask(&server, Method::POST, &format!("{agent}/{action}")).await),
            }
        }
        let first = text(&made[0]["id"]);
        for (query, expected) in [
            ("standing=active".to_owned(), &["A", "D"][..]), ("standing=paused".to_owned(), &["B"]),
            ("standing=terminated".to_owned(), &["C"]), (format!("agent_type_id={first}"), &["A", "B"]),
            (format!("agent_type_id={first}&standing=active"), &["A"]), (String::new(), &["A", "B", "C", "D"]),
        ] {
            assert_eq!(listed(&format!("{agents}?{query}")).await, names(expected), "{query}");
        }
        for query in ["standing=idle", "agent_type_id=x"] {
            let refused = ada.get(&server, &format!("{agents}?{query}")).await;
            assert_eq!(refused.refusal(), (422, "invalid_parameter"), "{query}");
        }
    }
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_client_has_tries_of_its_own() {
    for is_trusted in [false, true] {
        let server = TestServer::start_with(|config| {
            if is_trusted {
                config.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
            }
        })
        .await;
        let email = "ada@example.com";
        assert_eq!(register(&server, email, PASSWORD).await.status, 201);
        let mut last = 0;
        for _ in 0..11 {
            // What a client writes there itself changes nothing.
            let answer = login_for(&server, "10.9.8.7, 203.0.113.1", email, WRONG).await;
            last = answer.status.as_u16();
        }
        assert_eq!(last, 429);
        let same = login_for(&server, "10.0.0.1, 203.0.113.1", email, PASSWORD).await;
        assert_eq!(same.status, 429);
        let other = login_for(&server, "203.0.113.1, 203.0.113.2", email, PASSWORD).await;
        assert_eq!(
            other.status,
            if is_trusted { 200 } else { 429 },
            "{is_trusted}"
        );
    }
}
