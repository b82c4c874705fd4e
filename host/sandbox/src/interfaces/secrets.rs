//! `bulkhead:tool/secrets`: the escape hatch for credentials, a grant of its own.

use bulkhead_domain::HostCallOutcome;

use super::{entry::missing_grant, wit::secrets::Host};
use crate::state::CallState;

impl Host for CallState {
    fn reveal(&mut self, name: String) -> wasmtime::Result<Option<String>> {
        let begun = self
            .recorder
            .begin("secrets", "reveal", Some(&name), name.len());
        let authority = &self.context.authority;
        let granted = authority.capabilities.reveal.contains(&name);
        let credential = authority
            .credentials
            .iter()
            .find(|credential| credential.name == name);
        let secret = credential
            .filter(|_| granted)
            .map(|found| found.secret.expose().to_owned());
        let outcome = match (&secret, granted) {
            (Some(_), _) => HostCallOutcome::Ok,
            (None, true) => HostCallOutcome::Failed,
            (None, false) => HostCallOutcome::Denied,
        };
        self.recorder
            .end(begun, secret.as_ref().map_or(0, String::len), outcome);
        if !granted {
            let what = format!("reading the credential \"{name}\"");
            let message = missing_grant(&what, &format!("--reveal {name}"));
            self.recorder.deny("reveal", message);
        }
        Ok(secret)
    }
}
