//! Every route of the platform for everybody: nobody, a user, a viewer, a member and the owner of the
//! project, the owner of another one, a superuser.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::{Person, ask, project_with_agent, type_body};
use crate::{both::on_both, clients::text, support::TestServer};

/// Who may do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Anybody,
    SignedIn,
    Superuser,
    /// At least this in the project.
    Viewer,
    Member,
    Owner,
}

use Who::{Anybody, Member, Owner, SignedIn, Superuser, Viewer};

/// The table: a route, who may, and a body that is taken. `{…}` is filled in.
fn table() -> Vec<(&'static str, &'static str, Who, Option<Value>)> {
    vec![
        ("post", "/api/v1/auth/register", Anybody, Some(json!({}))),
        ("post", "/api/v1/auth/login", Anybody, Some(json!({}))),
        ("post", "/api/v1/auth/refresh", Anybody, Some(json!({}))),
        ("post", "/api/v1/auth/logout", SignedIn, None),
        ("get", "/api/v1/users/me", SignedIn, None),
        ("patch", "/api/v1/users/me", SignedIn, Some(json!({}))),
        (
            "post",
            "/api/v1/users/me/password",
            SignedIn,
            Some(json!({ "current_password": super::PASSWORD, "new_password": super::PASSWORD })),
        ),
        ("get", "/api/v1/users", Superuser, None),
        ("get", "/api/v1/users/{user_id}", Superuser, None),
        (
            "patch",
            "/api/v1/users/{user_id}",
            Superuser,
            Some(json!({})),
        ),
        ("get", "/api/v1/agent-types", SignedIn, None),
        (
            "post",
            "/api/v1/agent-types",
            Superuser,
            Some(type_body("{fresh}")),
        ),
        ("get", "/api/v1/agent-types/slug/{slug}", SignedIn, None),
        ("get", "/api/v1/agent-types/{agent_type_id}", SignedIn, None),
        (
            "patch",
            "/api/v1/agent-types/{agent_type_id}",
            Superuser,
            Some(json!({})),
        ),
        ("get", "/api/v1/projects", SignedIn, None),
        (
            "post",
            "/api/v1/projects",
            SignedIn,
            Some(json!({ "name": "P", "slug": "{fresh}" })),
        ),
        ("get", "/api/v1/projects/{project_id}", Viewer, None),
        (
            "patch",
            "/api/v1/projects/{project_id}",
            Owner,
            Some(json!({})),
        ),
        ("delete", "/api/v1/projects/{project_id}", Owner, None),
        ("get", "/api/v1/projects/{project_id}/metrics", Viewer, None),
        ("get", "/api/v1/projects/{project_id}/members", Viewer, None),
        (
            "put",
            "/api/v1/projects/{project_id}/members/{user}",
            Owner,
            Some(json!({ "role": "viewer" })),
        ),
        (
            "delete",
            "/api/v1/projects/{project_id}/members/{user}",
            Owner,
            None,
        ),
        ("get", "/api/v1/projects/{project_id}/agents", Viewer, None),
        (
            "post",
            "/api/v1/projects/{project_id}/agents",
            Owner,
            Some(json!({ "agent_type_id": "{type}", "name": "A" })),
        ),
        (
            "get",
            "/api/v1/projects/{project_id}/agents/{agent_id}",
            Viewer,
            None,
        ),
        (
            "patch",
            "/api/v1/projects/{project_id}/agents/{agent_id}",
            Owner,
            Some(json!({ "name": "B" })),
        ),
        (
            "delete",
            "/api/v1/projects/{project_id}/agents/{agent_id}",
            Owner,
            None,
        ),
        (
            "post",
            "/api/v1/projects/{project_id}/agents/{agent_id}/pause",
            Owner,
            None,
        ),
        (
            "post",
            "/api/v1/projects/{project_id}/agents/{agent_id}/resume",
            Owner,
            None,
        ),
        (
            "get",
            "/api/v1/projects/{project_id}/agents/{agent_id}/metrics",
            Viewer,
            None,
        ),
        (
            "get",
            "/api/v1/projects/{project_id}/agents/{agent_id}/messages",
            Viewer,
            None,
        ),
        (
            "post",
            "/api/v1/projects/{project_id}/agents/{agent_id}/messages",
            Member,
            Some(json!({ "input": "hello", "streaming": false })),
        ),
        (
            "post",
            "/api/v1/projects/{project_id}/agents/{agent_id}/messages/stream",
            Member,
            Some(json!({ "input": "hello" })),
        ),
        (
            "post",
            "/api/v1/projects/{project_id}/agents/{agent_id}/messages/async",
            Member,
            Some(json!({ "input": "hello" })),
        ),
        (
            "post",
            "/api/v1/projects/{project_id}/agents/{agent_id}/messages/cancel",
            Member,
            None,
        ),
        (
            "get",
            "/api/v1/projects/{project_id}/agents/{agent_id}/runs",
            Viewer,
            None,
        ),
        (
            "get",
            "/api/v1/projects/{project_id}/agents/{agent_id}/runs/{run_id}",
            Viewer,
            None,
        ),
        (
            "post",
            "/api/v1/projects/{project_id}/agents/{agent_id}/runs/{run_id}/stream",
            Viewer,
            None,
        ),
    ]
}

/// What somebody is told who asks: `allowed`, or a status.
fn expected(who: Who, asks: &str) -> &'static str {
    let is_in = ["viewer", "member", "owner"]
        .iter()
        .position(|role| *role == asks);
    let needed = match who {
        Viewer => Some(0),
        Member => Some(1),
        Owner => Some(2),
        _ => None,
    };
    match (who, asks) {
        (Anybody, _) | (_, "superuser") => "allowed",
        (_, "nobody") => "401",
        (SignedIn, _) => "allowed",
        (Superuser, _) => "403",
        _ => match (is_in, needed) {
            (Some(is), Some(needed)) if is >= needed => "allowed",
            (Some(_), _) => "403",
            (None, _) => "404",
        },
    }
}

/// What is told to those who may ask where it is no success: what is wrong with these bodies, and what
/// this agent can't do just now.
fn told(path: &str) -> Option<u16> {
    let told = [
        ("/auth/register", 422),
        ("/auth/login", 422),
        ("/auth/refresh", 422),
        ("/resume", 422),
        ("/messages/cancel", 409),
    ];
    let told = told.iter().find(|(end, _)| path.ends_with(end));
    told.map(|(_, status)| *status)
}

fn seen(path: &str, answer: &crate::support::Answer) -> &'static str {
    match (answer.status.as_u16(), told(path)) {
        (status, Some(told)) if status == told => "allowed",
        (200..300, None) => "allowed",
        (401, _) => "401",
        (403, _) => "403",
        (404, _) => "404",
        _ => "something else",
    }
}

/// A project in which everybody is what they are called.
struct Fixture {
    project: String,
    agent: String,
    of_type: String,
    run: String,
}

impl Fixture {
    /// A path and a body of the table with what is here.
    fn fill(
        &self,
        path: &str,
        body: Option<&Value>,
        slug: &str,
        somebody: &str,
    ) -> (String, Option<Value>) {
        let path = path
            .replace("{project_id}", &self.project)
            .replace("{agent_id}", &self.agent)
            .replace("{agent_type_id}", &self.of_type)
            .replace("{run_id}", &self.run)
            .replace("{slug}", &format!("{slug}-type"))
            .replace("{user_id}", somebody)
            .replace("{user}", somebody);
        let body = body.map(|body| {
            let text = body.to_string();
            let text = text.replace("{fresh}", &format!("fresh-{slug}"));
            serde_json::from_str(&text.replace("{type}", &self.of_type)).unwrap()
        });
        (path, body)
    }
}

async fn fixture(
    server: &TestServer,
    people: &[(&str, Person)],
    slug: &str,
    needs_run: bool,
) -> Fixture {
    let person = |name: &str| {
        people
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, p)| p)
            .unwrap()
    };
    let (root, owner) = (person("superuser"), person("owner"));
    let (project, agent) = project_with_agent(server, (root, owner), slug).await;
    for role in ["viewer", "member"] {
        let path = format!("{project}/members/{}", person(role).email);
        let body = json!({ "role": role });
        let put = ask(server, Some(&owner.token), Method::PUT, &path, Some(&body)).await;
        assert_eq!(put.status, 200, "{put:?}");
    }
    let mut run = String::new();
    if needs_run {
        let path = format!("{agent}/messages/async");
        let begun = owner
            .post(server, &path, &json!({ "input": "hello" }))
            .await;
        text(&begun.body["id"]).clone_into(&mut run);
    }
    let shown = owner.get(server, &agent).await.body;
    Fixture {
        of_type: text(&shown["agent_type_id"]).to_owned(),
        project: project.rsplit('/').next().unwrap().to_owned(),
        agent: agent.rsplit('/').next().unwrap().to_owned(),
        run,
    }
}

on_both! {
    async fn every_route_is_for_whom_the_table_says(server) {
        let mut people = Vec::new();
        for name in ["user", "viewer", "member", "owner", "other-owner"] {
            people.push((name, Person::new(&server, name).await));
        }
        people.push(("superuser", Person::superuser(&server, "superuser").await));
        let other = people.iter().find(|(name, _)| *name == "other-owner").unwrap();
        other.1.made(&server, "/api/v1/projects", &json!({ "name": "O", "slug": "other" })).await;
        let mut wrong = Vec::new();
        let mut number = 0;
        for (method, path, who, body) in table() {
            for asks in ["nobody", "user", "viewer", "member", "owner", "other-owner", "superuser"] {
                // Who signs out is out.
                if path.ends_with("/logout") && asks != "nobody" {
                    continue;
                }
                number += 1;
                let slug = format!("p-{number}");
                let of = fixture(&server, &people, &slug, path.contains("{run_id}")).await;
                let (path, body) = of.fill(path, body.as_ref(), &slug, &people[1].1.id);
                let token = people.iter().find(|(name, _)| *name == asks);
                let token = token.map(|(_, person)| person.token.as_str());
                let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
                let answer = ask(&server, token, method.clone(), &path, body.as_ref()).await;
                let (expected, seen) = (expected(who, asks), seen(&path, &answer));
                if expected != seen {
                    wrong.push(format!("{asks}: {method} {path}: {seen}, not {expected}: {}", answer.text));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[tokio::test]
async fn the_servers_own_token_may_do_all_that_needs_no_person() {
    const TOKEN: &str = "t0ken";
    let server = TestServer::start_with(|config| config.token = Some(TOKEN.to_owned())).await;
    let mut people = vec![("superuser", Person::installation(TOKEN))];
    for name in ["viewer", "member", "owner"] {
        people.push((name, Person::new(&server, name).await));
    }
    let of_a_person = [
        "post /api/v1/auth/logout",
        "get /api/v1/users/me",
        "patch /api/v1/users/me",
        "post /api/v1/users/me/password",
        "post /api/v1/projects",
    ];
    let mut refused = 0;
    for (number, (method, route, who, body)) in table().into_iter().enumerate() {
        let slug = format!("p-{number}");
        let of = fixture(&server, &people, &slug, route.contains("{run_id}")).await;
        let (path, body) = of.fill(route, body.as_ref(), &slug, &people[1].1.id);
        let http_method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
        let answer = ask(&server, Some(TOKEN), http_method, &path, body.as_ref()).await;
        let is_of_a_person = of_a_person.contains(&format!("{method} {route}").as_str());
        refused += usize::from(is_of_a_person);
        // Who makes an agent or something else of the platform may be the installation, who nobody is.
        let expected = if is_of_a_person { "403" } else { "allowed" };
        assert_eq!(
            seen(&path, &answer),
            expected,
            "{method} {route} {who:?}: {answer:?}"
        );
    }
    assert_eq!(refused, of_a_person.len());
}

#[tokio::test]
async fn the_table_has_every_route() {
    let server = TestServer::start().await;
    let document = server.get("/openapi.json").await.body;
    let mut documented = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        if path.starts_with("/api/v1/") {
            let methods = methods.as_object().unwrap().keys();
            documented.extend(methods.map(|method| format!("{method} {path}")));
        }
    }
    let table = table();
    let table: BTreeSet<_> = table
        .iter()
        .map(|(method, path, ..)| format!("{method} {path}"))
        .collect();
    assert_eq!(table, documented);
}
