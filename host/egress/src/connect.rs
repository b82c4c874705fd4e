//! From checked addresses to a connection.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use futures::stream::{FuturesUnordered, StreamExt as _};
use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsConnector;

use crate::{EgressError, Settings, SetupError, error::chain};

/// Addresses of one name that are tried; a name with more has enough of them.
const MAX_ATTEMPTS: usize = 8;
/// How long one address may keep the next one waiting (RFC 8305 recommends 250 ms).
const NEXT_ATTEMPT_AFTER: Duration = Duration::from_millis(250);

/// What bytes to and from a server go through.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// The TLS settings that all connections share: ring, Mozilla's roots, HTTP/1.1 only.
pub(crate) fn tls(settings: &Settings) -> Result<Arc<ClientConfig>, SetupError> {
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    for root in &settings.extra_roots {
        roots.add(root.clone())?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Connects to the first of `addresses` that answers.
pub(crate) async fn tcp(addresses: &[IpAddr], port: u16) -> io::Result<TcpStream> {
    let mut rest = addresses.iter().take(MAX_ATTEMPTS);
    let mut attempts = FuturesUnordered::new();
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        let next = rest.next();
        if let Some(&address) = next {
            attempts.push(TcpStream::connect(SocketAddr::new(address, port)));
        }
        let ended = match next {
            Some(_) => timeout(NEXT_ATTEMPT_AFTER, attempts.next()).await,
            None => Ok(attempts.next().await),
        };
        match ended {
            Ok(Some(Ok(stream))) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Ok(Some(Err(error))) => last = error,
            Ok(None) => return Err(last),
            Err(_) => {}
        }
    }
}

/// Speaks TLS as a client of `host`.
pub(crate) async fn secure(
    config: Arc<ClientConfig>,
    host: &str,
    stream: TcpStream,
) -> Result<Box<dyn Stream>, EgressError> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let name = ServerName::try_from(bare.to_owned())
        .map_err(|_| EgressError::Invalid("no certificate can name this host".to_owned()))?;
    let secured = TlsConnector::from(config).connect(name, stream).await;
    let secured = secured.map_err(|error| EgressError::Failed {
        message: format!("no TLS with `{host}`: {}", chain(&error)),
        sent: false,
    })?;
    Ok(Box::new(secured))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_next_address_is_tried_when_one_refuses() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let port = listener.local_addr().expect("an address").port();
        // Nothing listens on this port of 127.0.0.2.
        let addresses = ["127.0.0.2", "127.0.0.1"].map(|text| text.parse().expect("an address"));
        let stream = tcp(&addresses, port).await.expect("the second one answers");
        assert_eq!(stream.peer_addr().expect("a peer").ip(), addresses[1]);
        assert!(tcp(&addresses[..1], port).await.is_err());
        assert!(tcp(&[], port).await.is_err());
    }
}
