//! The platform (`/api/v1`): people, their projects, and the agents in them, on both databases.
//!
//! - [`accounts`]: sign-ins and their tokens. [`workflows`]: what a team does with it, from a type to
//!   what an agent cost. [`states`]: what a paused and a terminated agent take.
//! - [`control`]: what is seen and done while an agent works or waits. [`rights`]: what changes while
//!   somebody uses it, members, filters, and how often something may be tried.
//! - [`history`]: what is kept of an agent, and what its end closes. [`fallback`]: models that stand in
//!   for one that fails. [`costs`]: what agents cost.
//! - [`unfinished`]: ends that were stored alone. [`sizes`]: large bodies.
//! - [`sign_ins`]: what ends one. [`foreign`]: ids of other people's things. [`sums`]: what is counted.
//! - [`streams`]: what ends with a right. [`overrides`]: what a member may not say beside a message.
//! - [`access`]: every route for everybody. [`tenants`]: what users see of `/v1`.

mod access;
mod accounts;
mod control;
mod costs;
mod fallback;
mod foreign;
mod history;
mod overrides;
mod rights;
mod sign_ins;
mod sizes;
mod states;
mod streams;
mod sums;
mod tenants;
mod unfinished;
mod workflows;

use std::time::Duration;

use bulkhead_access::{TokenKey, token};
use bulkhead_domain::{
    Timestamp,
    platform::{Session, SessionId},
};
use bulkhead_store::InstallationKey;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    clients::text,
    support::{Answer, TestServer},
};

/// A password that nobody guesses.
const PASSWORD: &str = "correct-Horse-7-battery";

/// Somebody who signed in.
pub(crate) struct Person {
    pub(crate) id: String,
    pub(crate) email: String,
    pub(crate) token: String,
    pub(crate) refresh: String,
}

impl Person {
    /// Makes an account and signs in.
    pub(crate) async fn new(server: &TestServer, name: &str) -> Self {
        let email = format!("{name}@example.com");
        let made = register(server, &email, PASSWORD).await;
        assert_eq!(made.status, StatusCode::CREATED, "{made:?}");
        let tokens = login(server, &email, PASSWORD).await;
        assert_eq!(tokens.status, 200, "{tokens:?}");
        Self {
            id: text(&made.body["id"]).to_owned(),
            token: text(&tokens.body["access_token"]).to_owned(),
            refresh: text(&tokens.body["refresh_token"]).to_owned(),
            email,
        }
    }

    /// As [`Person::new`]; the first superuser is made by the command line, and here past it.
    pub(crate) async fn superuser(server: &TestServer, name: &str) -> Self {
        let email = format!("{name}@example.com");
        let made = register(server, &email, PASSWORD).await;
        assert_eq!(made.status, StatusCode::CREATED, "{made:?}");
        let raise = format!("UPDATE users SET is_superuser = 1 WHERE email = '{email}'");
        server.database().script(&raise).await;
        let tokens = login(server, &email, PASSWORD).await;
        Self {
            id: text(&made.body["id"]).to_owned(),
            token: text(&tokens.body["access_token"]).to_owned(),
            refresh: text(&tokens.body["refresh_token"]).to_owned(),
            email,
        }
    }

    /// Whoever runs the server, by its own token: nobody in particular.
    pub(crate) fn installation(token: &str) -> Self {
        Self {
            id: String::new(),
            email: String::new(),
            token: token.to_owned(),
            refresh: String::new(),
        }
    }

    /// An access token of this sign-in that counts for so long from now on; one that has expired
    /// where it is none.
    pub(crate) fn token_for(&self, server: &TestServer, time: Option<Duration>) -> String {
        let key = signing_key(server);
        let now = Timestamp::now();
        let session = Session {
            id: self.session(server),
            ..Session::new(self.id.parse().unwrap(), token::refresh_expires_at(now))
        };
        let lived = token::ACCESS_LIFETIME + token::LEEWAY - time.unwrap_or_default();
        let made = now.micros() - i64::try_from(lived.as_micros()).unwrap();
        key.access_token(&session, Timestamp::from_micros(made))
    }

    /// The sign-in.
    pub(crate) fn session(&self, server: &TestServer) -> SessionId {
        let token = signing_key(server).check_access(&self.token, Timestamp::now());
        token.unwrap().session
    }

    /// Asks with the token.
    pub(crate) async fn ask(&self, server: &TestServer, method: Method, path: &str) -> Answer {
        ask(server, Some(&self.token), method, path, None).await
    }

    pub(crate) async fn get(&self, server: &TestServer, path: &str) -> Answer {
        self.ask(server, Method::GET, path).await
    }

    pub(crate) async fn post(&self, server: &TestServer, path: &str, body: &Value) -> Answer {
        ask(server, Some(&self.token), Method::POST, path, Some(body)).await
    }

    pub(crate) async fn patch(&self, server: &TestServer, path: &str, body: &Value) -> Answer {
        ask(server, Some(&self.token), Method::PATCH, path, Some(body)).await
    }

    /// Posts what must be taken as something new.
    pub(crate) async fn made(&self, server: &TestServer, path: &str, body: &Value) -> Value {
        let made = self.post(server, path, body).await;
        assert_eq!(made.status, StatusCode::CREATED, "{path}: {made:?}");
        made.body
    }
}

fn key(server: &TestServer) -> InstallationKey {
    let key = server.data_dir().join("installation.key");
    InstallationKey::load_or_create(&key).unwrap()
}

/// What the server signs tokens with.
fn signing_key(server: &TestServer) -> TokenKey {
    TokenKey::new(key(server).derive("bulkhead access tokens v1"))
}

/// A request with a token or none.
pub(crate) async fn ask(
    server: &TestServer,
    token: Option<&str>,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Answer {
    let mut request = server.request(method, path);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    if let Some(body) = body {
        request = request.json(body);
    }
    Answer::read(request.send().await.unwrap()).await
}

async fn register(server: &TestServer, email: &str, password: &str) -> Answer {
    let body = json!({
        "email": email, "password": password, "first_name": "Ada", "last_name": "King",
    });
    server.post("/api/v1/auth/register", &body).await
}

async fn login(server: &TestServer, email: &str, password: &str) -> Answer {
    let body = json!({ "email": email, "password": password });
    server.post("/api/v1/auth/login", &body).await
}

/// The body of a type that answers without a provider.
fn type_body(slug: &str) -> Value {
    json!({
        "name": "Helper", "slug": slug, "personality_prompt": "You are a helpful agent.",
        "primary_model": "bulkhead/scripted",
    })
}

/// A project of somebody, and an agent in it: the paths of both.
pub(crate) async fn project_with_agent(
    server: &TestServer,
    (superuser, owner): (&Person, &Person),
    slug: &str,
) -> (String, String) {
    let types = superuser
        .get(server, &format!("/api/v1/agent-types/slug/{slug}-type"))
        .await;
    let of_type = if types.status == 200 {
        types.body
    } else {
        let body = type_body(&format!("{slug}-type"));
        superuser.made(server, "/api/v1/agent-types", &body).await
    };
    let body = json!({ "name": "Project", "slug": slug });
    let project = owner.made(server, "/api/v1/projects", &body).await;
    let project = format!("/api/v1/projects/{}", text(&project["id"]));
    let body = json!({ "agent_type_id": of_type["id"], "name": "Agent" });
    let agent = owner
        .made(server, &format!("{project}/agents"), &body)
        .await;
    let agent = format!("{project}/agents/{}", text(&agent["id"]));
    (project, agent)
}
