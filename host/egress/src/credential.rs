//! A named secret that the host adds to requests on the way out.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bulkhead_policy::{HttpRule, Target};
use http::{HeaderMap, HeaderName, HeaderValue, header::AUTHORIZATION};
use serde::{Deserialize, Serialize};
use url::Url;
use zeroize::Zeroizing;

use crate::{EgressError, Secret, headers};

/// A named secret that the host adds to requests on the way out.
#[derive(Debug, Clone)]
pub struct Credential {
    /// What requests and grants call it.
    pub name: String,
    /// The secret.
    pub secret: Secret,
    /// Where in a request it goes.
    pub placement: Placement,
    /// Requests that it may be added to, by any one of these; none of them, nowhere.
    pub audience: Vec<HttpRule>,
    /// Whether it is added by its audience alone, without being asked for by name.
    pub automatic: bool,
}

/// Where in a request a secret goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Placement {
    /// `authorization: Bearer SECRET`.
    Bearer,
    /// A header of its own.
    Header {
        /// The header's name, for example `x-api-key`.
        name: String,
        /// What stands before the secret.
        #[serde(default)]
        prefix: String,
    },
    /// A parameter of the query.
    Query {
        /// The parameter's name.
        name: String,
    },
    /// The password of `authorization: Basic …`.
    Basic {
        /// The user name.
        user: String,
    },
}

impl Credential {
    /// Whether the secret may go to `target`.
    pub(crate) fn is_for(&self, target: &Target, method: &str) -> bool {
        self.audience
            .iter()
            .any(|rule| rule.matches(target, method))
    }

    /// The header or parameter that it fills, to tell whether two credentials collide.
    pub(crate) fn place(&self) -> (bool, String) {
        match &self.placement {
            Placement::Bearer | Placement::Basic { .. } => (true, AUTHORIZATION.to_string()),
            Placement::Header { name, .. } => (true, name.to_ascii_lowercase()),
            Placement::Query { name } => (false, name.clone()),
        }
    }

    /// The parameter that it fills, where it fills one.
    pub(crate) fn parameter(&self) -> Option<String> {
        match &self.placement {
            Placement::Query { name } => Some(name.clone()),
            Placement::Bearer | Placement::Basic { .. } | Placement::Header { .. } => None,
        }
    }

    /// Puts the secret into a request, in the place of whatever the guest put there.
    pub(crate) fn inject(&self, url: &mut Url, headers: &mut HeaderMap) -> Result<(), EgressError> {
        let secret = self.secret.expose();
        let (name, value) = match &self.placement {
            Placement::Bearer => (AUTHORIZATION, Zeroizing::new(format!("Bearer {secret}"))),
            Placement::Basic { user } => {
                let pair = Zeroizing::new(format!("{user}:{secret}"));
                let value = format!("Basic {}", STANDARD.encode(pair.as_bytes()));
                (AUTHORIZATION, Zeroizing::new(value))
            }
            Placement::Header { name, prefix } => {
                let name = HeaderName::from_bytes(name.as_bytes()).ok();
                let name = name.filter(|name| !headers::is_reserved(name));
                let name = name.ok_or_else(|| self.unfit("its header's name is not allowed"))?;
                (name, Zeroizing::new(format!("{prefix}{secret}")))
            }
            Placement::Query { name } => {
                strip_parameter(url, name);
                url.query_pairs_mut().append_pair(name, secret);
                return Ok(());
            }
        };
        let value = HeaderValue::from_bytes(value.as_bytes());
        let mut value = value.map_err(|_| self.unfit("it can't stand in a header"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(())
    }

    fn unfit(&self, reason: &str) -> EgressError {
        EgressError::Unauthorized(format!(
            "the credential `{}` can't be sent: {reason}",
            self.name
        ))
    }
}

/// Removes every parameter `name` from the query.
pub(crate) fn strip_parameter(url: &mut Url, name: &str) {
    if !url.query_pairs().any(|(key, _)| key == name) {
        return;
    }
    let others: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(key, _)| key != name)
        .map(|(key, value)| (key.into_owned(), value.into_owned()))
        .collect();
    if others.is_empty() {
        url.set_query(None);
    } else {
        url.query_pairs_mut().clear().extend_pairs(others);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn injected(placement: Placement, secret: &str) -> Result<(Url, HeaderMap), EgressError> {
        let credential = Credential {
            name: "token".to_owned(),
            secret: Secret::new(secret).expect("a secret"),
            placement,
            audience: Vec::new(),
            automatic: false,
        };
        let mut url: Url = "https://a.com/x?key=guest&q=a%20b&key=2"
            .parse()
            .expect("a URL");
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_static("guest"));
        credential.inject(&mut url, &mut headers)?;
        Ok((url, headers))
    }

    #[test]
    fn a_credential_replaces_what_the_guest_put_in_its_place() {
        let (_, headers) = injected(Placement::Bearer, "0123456789").expect("injected");
        assert_eq!(headers[AUTHORIZATION], "Bearer 0123456789");
        assert!(headers[AUTHORIZATION].is_sensitive());
        let basic = Placement::Basic {
            user: "me".to_owned(),
        };
        let (_, headers) = injected(basic, "0123456789").expect("injected");
        assert_eq!(headers[AUTHORIZATION], "Basic bWU6MDEyMzQ1Njc4OQ==");
        let query = Placement::Query {
            name: "key".to_owned(),
        };
        let (url, _) = injected(query, "01234&56789").expect("injected");
        assert_eq!(url.query(), Some("q=a+b&key=01234%2656789"));
    }

    #[test]
    fn a_secret_that_no_header_can_hold_is_refused_without_showing_it() {
        let error = injected(Placement::Bearer, "0123\r\n56789").expect_err("a line break");
        assert!(!error.to_string().contains("0123"), "{error}");
        let host = Placement::Header {
            name: "Host".to_owned(),
            prefix: String::new(),
        };
        assert!(injected(host, "0123456789").is_err());
    }
}
