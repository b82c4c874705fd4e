//! Turns a name into addresses.

use std::{
    io,
    net::{IpAddr, ToSocketAddrs as _},
};

use futures::future::BoxFuture;
use tokio::{sync::Semaphore, task::spawn_blocking};

/// Lookups of the process that run at once. Each takes a thread that can't be stopped, for as
/// long as the name's server is silent, also when nobody waits for it any more; the runtime's
/// threads for such work (512) serve files and compilation too. 32 leave those nearly all of
/// them and are far more than a host with answering name servers ever uses.
const MAX_LOOKUPS: usize = 32;

/// The places for lookups.
static LOOKUPS: Semaphore = Semaphore::const_new(MAX_LOOKUPS);

/// Turns a name into addresses. Asked once for each request; what it says is checked and is then
/// all that is connected to.
pub trait Resolver: Send + Sync + 'static {
    /// All addresses of `host`, a name in lower case without a final dot.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The resolver of the operating system. At most 32 lookups run at once in the
/// process; others wait, within the time that a request has for connecting.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let host = host.to_owned();
        Box::pin(lookup(&LOOKUPS, move || {
            let addresses = (host.as_str(), 0).to_socket_addrs()?;
            let mut addresses: Vec<IpAddr> = addresses.map(|address| address.ip()).collect();
            addresses.dedup();
            Ok(addresses)
        }))
    }
}

/// Runs `look` on a thread of its own. It keeps its place until it ends, whether or not it is
/// still waited for.
async fn lookup(
    places: &'static Semaphore,
    look: impl FnOnce() -> io::Result<Vec<IpAddr>> + Send + 'static,
) -> io::Result<Vec<IpAddr>> {
    let place = places.acquire().await.map_err(io::Error::other)?;
    let looking = spawn_blocking(move || {
        let found = look();
        drop(place);
        found
    });
    looking.await.map_err(io::Error::other)?
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_lookup_that_was_given_up_keeps_its_place_until_it_ends() {
        static PLACES: Semaphore = Semaphore::const_new(1);
        let (end, ended) = mpsc::channel::<()>();
        let stuck = lookup(&PLACES, move || {
            // Ends when the test drops the sender.
            let _ = ended.recv();
            Ok(Vec::new())
        });
        let short = Duration::from_millis(50);
        assert!(timeout(short, stuck).await.is_err());
        let next = || lookup(&PLACES, || Ok(vec![IpAddr::from([127, 0, 0, 1])]));
        assert!(timeout(short, next()).await.is_err(), "no place is free");
        drop(end);
        let found = timeout(Duration::from_secs(5), next()).await;
        assert_eq!(found.expect("a place is free").expect("found").len(), 1);
    }

    #[tokio::test]
    async fn the_system_knows_addresses() {
        let found = SystemResolver.resolve("127.0.0.1").await.expect("found");
        assert_eq!(found, [IpAddr::from([127, 0, 0, 1])]);
    }
}
