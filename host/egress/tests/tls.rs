//! TLS: certificates are checked, against the roots that the settings add too.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::sync::Arc;

use bulkhead_egress::{Egress, EgressError, Settings};
use common::{Names, access, request, rule};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// A server with a certificate for `a.test` that it signed itself.
async fn start() -> (u16, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let mut bytes = vec![0; 4096];
            if stream.read(&mut bytes).await.is_ok() {
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                let _ = stream.write_all(answer).await;
                let _ = stream.shutdown().await;
            }
        }
    });
    (port, certificate)
}

async fn fetch(
    host: &str,
    port: u16,
    roots: Vec<CertificateDer<'static>>,
) -> Result<u16, EgressError> {
    let resolver = Names::new(&[("a.test", &[&["127.0.0.1"]]), ("b.test", &[&["127.0.0.1"]])]);
    let egress = Egress::new(Settings {
        resolver,
        extra_roots: roots,
        ..Settings::default()
    })
    .unwrap();
    let open = rule(&format!(
        r#"{{"host": "*", "port": {port}, "private": ["127.0.0.1"]}}"#
    ));
    let session = egress.session(access(vec![open], vec![]));
    let answer = session
        .fetch(request(&format!("https://{host}:{port}/")))
        .await?;
    Ok(answer.status)
}

#[tokio::test]
async fn a_certificate_must_be_trusted_and_name_the_host() {
    let (port, root) = start().await;
    assert_eq!(fetch("a.test", port, vec![root.clone()]).await, Ok(200));
    for result in [
        fetch("a.test", port, vec![]).await,
        fetch("b.test", port, vec![root]).await,
    ] {
        let Err(EgressError::Failed {
            message,
            sent: false,
        }) = result
        else {
            panic!("{result:?}")
        };
        assert!(message.starts_with("no TLS with"), "{message}");
    }
}
