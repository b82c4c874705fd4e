//! The host interfaces as a mock answers them, with the signatures that the component's side has.

pub(crate) mod agents;
pub(crate) mod context;
pub(crate) mod env;
pub(crate) mod files;
pub(crate) mod http;
pub(crate) mod memory;
pub(crate) mod peers;
pub(crate) mod recall;
pub(crate) mod secrets;
pub(crate) mod state;

use super::host::{Host, with};

/// Calls a handler of the test with the host free meanwhile, so that the handler may use it.
/// None if the test gave no handler.
fn handle<H, T>(
    slot: impl Fn(&mut Host) -> &mut Option<H>,
    call: impl FnOnce(&mut H) -> T,
) -> Option<T> {
    let mut handler = with(|host| slot(host).take())?;
    let answer = call(&mut handler);
    with(|host| {
        slot(host).get_or_insert(handler);
    });
    Some(answer)
}

/// What a host without the grant says.
fn missing(grant: &str) -> String {
    format!("no grant for {grant}")
}
