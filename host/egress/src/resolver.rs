//! Turns a name into addresses.

use std::{io, net::IpAddr};

use futures::future::BoxFuture;

/// Turns a name into addresses. Asked once for each request; what it says is checked and is then
/// all that is connected to.
pub trait Resolver: Send + Sync + 'static {
    /// All addresses of `host`, a name in lower case without a final dot.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The resolver of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((host, 0)).await?;
            let mut addresses: Vec<IpAddr> = addresses.map(|address| address.ip()).collect();
            addresses.dedup();
            Ok(addresses)
        })
    }
}
