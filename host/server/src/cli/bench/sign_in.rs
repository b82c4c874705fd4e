//! What people who sign in cost: the check of a token, and what calls of tools feel of passwords
//! that are hashed meanwhile.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use bulkhead_access::TokenKey;
use bulkhead_domain::{
    Timestamp,
    platform::{Session, UserId},
};
use serde::Serialize;
use serde_json::json;
use tokio::task::JoinSet;
use zeroize::Zeroizing;

use super::{
    COMPONENT, Effort,
    calls::{INPUT, TOOL},
    child::Server,
    stats::{Middle, Samples, Spread},
    wire::{self, Connection},
};
use crate::cli::{client::Client, error::CliError};

/// People who sign in at once.
const PEOPLE: usize = 64;
const PASSWORD: &str = "correct-Horse-7-battery";

/// What people cost.
#[derive(Debug, Serialize)]
pub(super) struct SignInFigures {
    /// Whose an access token is, without the database.
    pub(super) token_check_us: Middle,
    /// Calls of a native tool over HTTP while 64 people sign in.
    pub(super) call_while_64_sign_in_us: Spread,
}

/// Measures in this process, and on a server of its own.
pub(super) async fn measure(data: &Path, effort: Effort) -> Result<SignInFigures, CliError> {
    Ok(SignInFigures {
        token_check_us: tokens(effort),
        call_while_64_sign_in_us: calls(data).await?,
    })
}

fn tokens(effort: Effort) -> Middle {
    let key = TokenKey::new(Zeroizing::new([7; 32]));
    let now = Timestamp::now();
    let session = Session::new(
        UserId::random(),
        bulkhead_access::token::refresh_expires_at(now),
    );
    let token = key.access_token(&session, now);
    let mut samples = Samples::default();
    for _ in 0..effort.of(1_000, 10_000) {
        let start = Instant::now();
        let whose = key.check_access(&token, now);
        let took = start.elapsed();
        if whose.is_ok() {
            samples.push(took);
        }
    }
    samples.middle()
}

async fn calls(data: &Path) -> Result<Spread, CliError> {
    std::fs::create_dir_all(data)
        .map_err(|error| CliError::host("no data folder could be made", error))?;
    let server = Server::start(data).await?;
    let client = Client::at(&format!("http://{}", server.address), None)?;
    client
        .push(COMPONENT, bulkhead_tools::DEMO.to_vec())
        .await?;
    let mut made = people("/api/v1/auth/register", &client);
    while let Some(made) = made.join_next().await {
        made.map_err(failed)??;
    }
    let input = format!(r#"{{"input":{INPUT}}}"#);
    let call = wire::post(
        &format!("/v1/components/{COMPONENT}/tools/{TOOL}/call"),
        &input,
    );
    let mut connection = Connection::open(server.address).await.map_err(failed)?;
    for _ in 0..50 {
        connection.exchange(&call).await.map_err(failed)?;
    }
    let mut samples = Samples::default();
    let mut signing_in = people("/api/v1/auth/login", &client);
    while !signing_in.is_empty() {
        let start = Instant::now();
        connection.exchange(&call).await.map_err(failed)?;
        samples.push(start.elapsed());
        // As often as a busy client calls; a loop without a pause would measure itself.
        tokio::time::sleep(Duration::from_millis(1)).await;
        while let Some(signed_in) = signing_in.try_join_next() {
            signed_in.map_err(failed)??;
        }
    }
    server.stop().await?;
    Ok(samples.spread())
}

/// The same of everybody at once.
fn people(path: &'static str, client: &Client) -> JoinSet<Result<(), CliError>> {
    let mut people = JoinSet::new();
    for number in 0..PEOPLE {
        let client = client.clone();
        people.spawn(async move {
            let body = json!({
                "email": format!("person-{number}@example.com"), "password": PASSWORD,
            });
            client.post(path, &body).await.map(drop)
        });
    }
    people
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::host("people could not sign in", error)
}
