//! From a target to a connection: resolve once, check every address, connect to those.

use std::{collections::BTreeSet, net::IpAddr, sync::Arc};

use bulkhead_policy::{Cidr, HostPattern, HttpRule, Scheme, Target, address};
use tracing::debug;

use crate::{
    EgressError,
    connect::{self, Stream},
    session::Inner,
};

/// Resolves the host once, finds a rule that opens every address, and connects to those.
pub(crate) async fn reach(
    session: &Inner,
    target: &Target,
    rules: &[usize],
) -> Result<(usize, Box<dyn Stream>), EgressError> {
    let addresses = match target.address() {
        Some(address) => vec![address],
        None => resolve(session, target).await?,
    };
    let opens = |rule: &&usize| {
        let rule = &session.access.rules[**rule];
        addresses.iter().all(|&address| rule.opens(address))
    };
    // Of several rules the one that leaves most room; they differ when one of them is used up.
    let open = rules.iter().filter(opens);
    let rule = open.max_by_key(|&&rule| {
        let budgets = &session.budgets;
        budgets
            .left_to_receive(rule)
            .min(budgets.left_to_send(rule))
    });
    let &rule = rule.ok_or_else(|| closed(target, &addresses))?;
    let stream = connect::tcp(&addresses, target.port()).await;
    let stream = stream.map_err(|error| EgressError::Failed {
        message: format!("no connection to {}: {}", target.origin(), error.kind()),
        sent: false,
    })?;
    match target.scheme() {
        Scheme::Http => Ok((rule, Box::new(stream))),
        Scheme::Https => {
            let config = Arc::clone(&session.shared.tls);
            let host = target.host().to_string();
            Ok((rule, connect::secure(config, &host, stream).await?))
        }
    }
}

async fn resolve(session: &Inner, target: &Target) -> Result<Vec<IpAddr>, EgressError> {
    let host = target.host().to_string();
    let unknown = || EgressError::Failed {
        message: format!("the name {host} does not resolve"),
        sent: false,
    };
    let addresses = session.shared.settings.resolver.resolve(&host).await;
    let addresses = addresses.map_err(|error| {
        debug!(host, %error, "a name did not resolve");
        unknown()
    })?;
    if addresses.is_empty() {
        Err(unknown())
    } else {
        Ok(addresses)
    }
}

/// The refusal of a host with an address that is not public. It names the block that the address
/// is in, not the address: that would map the network for the guest.
fn closed(target: &Target, addresses: &[IpAddr]) -> EgressError {
    let origin = target.origin();
    let missing = match target.address() {
        Some(_) => format!("--allow-host {origin}"),
        None => {
            let closed = addresses
                .iter()
                .filter(|&&address| !address::is_public(address));
            let blocks: BTreeSet<Cidr> = closed
                .filter_map(|&address| address::block_of(address).parse().ok())
                .collect();
            let host = target
                .host()
                .to_string()
                .parse()
                .unwrap_or(HostPattern::ANY);
            let mut rule = HttpRule::to_host(host, Some(target.scheme()));
            rule.port = (target.port() != target.scheme().default_port()).then_some(target.port());
            rule.private = blocks.into_iter().collect();
            let rule = serde_json::to_string(&rule).unwrap_or_default();
            format!("--allow-host '{rule}'")
        }
    };
    debug!(%origin, ?addresses, "a host with an address that is not public was refused");
    let message = format!("{origin} leads to an address that is not public");
    EgressError::Denied { message, missing }
}
