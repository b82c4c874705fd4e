//! Interface `http`.

use super::{handle, missing, with};
use crate::http::{Error, Request, Response};

pub(crate) fn fetch(request: Request) -> Result<Response, Error> {
    with(|host| host.seen.requests.push(request.clone()));
    let answer = handle(|host| &mut host.http, |handler| handler(&request));
    answer.unwrap_or_else(|| Err(Error::Denied(missing(&request.url))))
}

#[cfg(test)]
mod tests {
    use crate::{
        http::{Error, get},
        mock::Host,
    };

    #[test]
    fn without_a_handler_a_request_is_denied_and_seen() {
        let host = Host::new().install();
        assert!(matches!(
            get("https://example.com").send(),
            Err(Error::Denied(_))
        ));
        assert_eq!(host.requests().len(), 1);
    }

    #[test]
    fn a_handler_may_use_the_host_itself() {
        let host = Host::new().http(|_| {
            crate::context::info("asked");
            Err(Error::Timeout)
        });
        let host = host.install();
        assert_eq!(get("https://example.com").send(), Err(Error::Timeout));
        assert_eq!(get("https://example.com").send(), Err(Error::Timeout));
        assert_eq!(host.logs().len(), 2);
    }

    #[test]
    fn a_mock_ends_with_its_guard() {
        let outer = Host::new().env("TZ", "UTC").install();
        drop(Host::new().install());
        assert_eq!(crate::env::var("TZ").as_deref(), Some("UTC"));
        drop(outer);
        assert_eq!(crate::env::var("TZ"), None);
    }
}
