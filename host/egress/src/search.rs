//! Which secrets a request carries: those that the host adds, and those that the guest may not.

use std::collections::BTreeSet;

use bulkhead_policy::Target;
use http::{HeaderMap, Method};

use crate::{Credential, EgressError, error::excerpt, exchange::Wanted, session::Inner};

/// The credentials to add, the named one first; of two for one place the first.
pub(crate) fn choose<'a>(
    session: &'a Inner,
    target: &Target,
    method: &Method,
    wanted: Wanted<'_>,
) -> Result<Vec<&'a Credential>, EgressError> {
    let all = &session.access.credentials;
    let mut chosen: Vec<&Credential> = Vec::new();
    match wanted {
        Wanted::None => return Ok(chosen),
        Wanted::Automatic => {}
        Wanted::Named(name) => {
            let shown = excerpt(name);
            let found = all
                .iter()
                .find(|credential| credential.name == name)
                .ok_or_else(|| {
                    EgressError::Unauthorized(format!("no credential `{shown}` is granted"))
                })?;
            if !found.is_for(target, method.as_str()) {
                let origin = target.origin();
                let message =
                    format!("the credential `{shown}` is not meant for {method} {origin}");
                return Err(EgressError::Unauthorized(message));
            }
            chosen.push(found);
        }
    }
    for credential in all.iter().filter(|credential| credential.automatic) {
        let taken = chosen
            .iter()
            .any(|other| other.place() == credential.place());
        if !taken && credential.is_for(target, method.as_str()) {
            chosen.push(credential);
        }
    }
    Ok(chosen)
}

/// The credentials whose secrets a guest that was shown them may send to `target` itself.
pub(crate) fn entitled(session: &Inner, target: &Target, method: &Method) -> BTreeSet<usize> {
    let credentials = session.access.credentials.iter().enumerate();
    let meant = credentials.filter(|(_, credential)| credential.is_for(target, method.as_str()));
    meant.map(|(owner, _)| owner).collect()
}

/// The credentials whose secrets the server at `target` can have, to look for them in an answer
/// that flows.
///
/// Masking delays a flow, so it looks for no more than these. A server has a secret when the host
/// added it to this request, to an earlier one of this call (to whatever host: it may lead on to
/// another one by a redirect that the guest follows, or by ways that nobody sees), or to a request
/// of an earlier call, which only a server that an audience names can have got; that is asked by
/// the host alone, as one server has many paths, ports and methods. Nothing else hands a secret
/// out: what the guest sends is refused if it holds a secret that is not meant for its target,
/// whether it was revealed to the guest or not, and what was revealed is no secret to the guest
/// that gets the answer. An answer that is buffered is not delayed and is searched for all.
pub(crate) fn known_to(session: &Inner, target: &Target) -> BTreeSet<usize> {
    let mut known = session.added();
    for (owner, credential) in session.access.credentials.iter().enumerate() {
        let mut audience = credential.audience.iter();
        if audience.any(|rule| rule.host.matches(&target.host())) {
            known.insert(owner);
        }
    }
    known
}

/// Refuses a request that holds a secret which is not meant for its target.
pub(crate) fn search(
    session: &Inner,
    target: &Target,
    headers: &HeaderMap,
    entitled: &BTreeSet<usize>,
) -> Result<(), EgressError> {
    search_bytes(session, target.url().as_str().as_bytes(), entitled)?;
    for (name, value) in headers {
        search_bytes(session, name.as_str().as_bytes(), entitled)?;
        search_bytes(session, value.as_bytes(), entitled)?;
    }
    Ok(())
}

/// Refuses a URL by its text as it was written: a host's name loses its case when it is parsed.
pub(crate) fn search_text(
    session: &Inner,
    text: &str,
    target: &Target,
    method: &Method,
) -> Result<(), EgressError> {
    search_bytes(session, text.as_bytes(), &entitled(session, target, method))
}

/// Refuses bytes that hold a secret of somebody else than `entitled`.
pub(crate) fn search_bytes(
    session: &Inner,
    bytes: &[u8],
    entitled: &BTreeSet<usize>,
) -> Result<(), EgressError> {
    let scrubber = session.scrubber();
    match scrubber
        .owners_in(bytes)
        .find(|owner| !entitled.contains(owner))
    {
        Some(owner) => Err(session.secret_in_request(owner)),
        None => Ok(()),
    }
}
