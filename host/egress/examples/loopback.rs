//! Prints what one buffered request costs on loopback, fresh connection included, with and
//! without a credential to search for: `cargo run -p bulkhead-egress --example loopback`.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::time::{Duration, Instant};

use bulkhead_egress::{Access, Credential, Egress, Placement, Request, Secret, Settings};
use bulkhead_policy::HttpRule;

const REQUESTS: usize = 2000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let app = axum::Router::new().fallback(|| async { "hello" });
    tokio::spawn(async move { axum::serve(listener, app).await });

    let egress = Egress::new(Settings::default())?;
    let rule: HttpRule = format!("http://{address}").parse()?;
    let token = Credential {
        name: "token".to_owned(),
        secret: Secret::new("0123456789abcdef0123456789abcdef0123456789abcdef")?,
        placement: Placement::Bearer,
        audience: vec![rule.clone()],
        automatic: true,
    };
    for credentials in [vec![], vec![token]] {
        let count = credentials.len();
        let access = Access {
            rules: [rule.clone()].into(),
            credentials: credentials.into(),
            requests: 1,
            request_bytes: 1 << 20,
            response_bytes: 1 << 20,
            within: None,
        };
        let mut times: Vec<Duration> = Vec::with_capacity(REQUESTS);
        for _ in 0..REQUESTS {
            let request = Request {
                method: "GET".to_owned(),
                url: format!("http://{address}/"),
                ..Request::default()
            };
            let start = Instant::now();
            // A session for each, as each call has one.
            egress.session(access.clone()).fetch(request).await?;
            times.push(start.elapsed());
        }
        times.sort();
        let at = |share: f64| times[((REQUESTS - 1) as f64 * share) as usize].as_micros();
        println!(
            "{count} credentials: p50 {} us, p99 {} us",
            at(0.5),
            at(0.99)
        );
    }
    Ok(())
}
