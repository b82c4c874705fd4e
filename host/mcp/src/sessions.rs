//! Sessions that are kept between operations: one for each server and agent, since a server may keep
//! state by session, and what one agent left there is not another one's to see. Operations that are no
//! agent's (lists, calls by hand) share one with each server.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use crate::{Endpoint, streamable::Session};

/// Sessions that are kept; beyond it the one goes that was not used for the longest time.
const SESSIONS_MAX: usize = 1000;

/// Which session: the server's id and the agent's.
type Key = (String, Option<String>);

/// The sessions that are kept.
#[derive(Default)]
pub(crate) struct Sessions {
    kept: HashMap<Key, Kept>,
    /// Those that others took the place of. Somebody may still use them, so that they end as idle
    /// ones do.
    replaced: Vec<Kept>,
    /// Whether somebody looks after those that nobody uses.
    pub(crate) has_keeper: bool,
}

/// A session, and where it is.
pub(crate) struct Kept {
    pub(crate) endpoint: Endpoint,
    pub(crate) session: Session,
    used: Instant,
}

impl Sessions {
    /// The session of an agent, where it is one with the server as it is now.
    pub(crate) fn find(&mut self, endpoint: &Endpoint, agent: Option<&str>) -> Option<Session> {
        let kept = self.kept.get_mut(&key(endpoint, agent))?;
        if kept.endpoint.revision != endpoint.revision {
            return None;
        }
        kept.used = Instant::now();
        Some(kept.session.clone())
    }

    /// Keeps a session.
    pub(crate) fn keep(&mut self, endpoint: &Endpoint, agent: Option<&str>, session: Session) {
        let key = key(endpoint, agent);
        let kept = Kept {
            endpoint: endpoint.clone(),
            session,
            used: Instant::now(),
        };
        let mut gone = self.kept.insert(key.clone(), kept);
        if self.kept.len() > SESSIONS_MAX {
            let others = self.kept.iter().filter(|(other, _)| **other != key);
            let oldest = others.min_by_key(|(_, kept)| kept.used);
            let oldest = oldest.map(|(oldest, _)| oldest.clone());
            gone = oldest.and_then(|oldest| self.kept.remove(&oldest));
        }
        // Beyond that many, servers end them by themselves some day.
        if self.replaced.len() < SESSIONS_MAX {
            self.replaced.extend(gone);
        }
    }

    /// Forgets a session that the server no longer knows.
    pub(crate) fn forget(&mut self, endpoint: &Endpoint, agent: Option<&str>, session: &Session) {
        let key = key(endpoint, agent);
        // Somebody else may have opened another one meanwhile.
        if self
            .kept
            .get(&key)
            .is_some_and(|kept| kept.session == *session)
        {
            self.kept.remove(&key);
        }
    }

    /// Takes all sessions with this server.
    pub(crate) fn take_all(&mut self, server: &str) -> Vec<Kept> {
        self.take(|kept| kept.endpoint.id == server)
    }

    /// Takes those that nobody used for so long.
    pub(crate) fn take_idle(&mut self, idle: Duration) -> Vec<Kept> {
        self.take(|kept| kept.used.elapsed() >= idle)
    }

    /// Whether none is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.replaced.is_empty()
    }

    fn take(&mut self, goes: impl Fn(&Kept) -> bool) -> Vec<Kept> {
        let replaced = self.replaced.extract_if(.., |kept| goes(kept));
        let mut taken: Vec<Kept> = replaced.collect();
        let kept = self.kept.extract_if(|_, kept| goes(kept));
        taken.extend(kept.map(|(_, kept)| kept));
        taken
    }
}

fn key(endpoint: &Endpoint, agent: Option<&str>) -> Key {
    (endpoint.id.clone(), agent.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use http::HeaderValue;

    use super::*;
    use crate::{Given, Transport};

    fn endpoint(id: &str, revision: i64) -> Endpoint {
        let given = Given {
            id,
            revision,
            transport: Transport::StreamableHttp,
            url: "https://mcp.example.com/",
            auth_header: None,
            token: None,
            headers: &BTreeMap::new(),
        };
        Endpoint::new(given, &[]).unwrap_or_else(|error| panic!("{error}"))
    }

    fn session(id: &'static str) -> Session {
        let mut session = Session::default();
        session.id = Some(HeaderValue::from_static(id));
        session
    }

    #[test]
    fn each_agent_has_its_own_and_a_changed_server_none() {
        let mut sessions = Sessions::default();
        let server = endpoint("s", 1);
        sessions.keep(&server, Some("a"), session("1"));
        sessions.keep(&server, None, session("2"));
        assert_eq!(sessions.find(&server, Some("a")), Some(session("1")));
        assert_eq!(sessions.find(&server, Some("b")), None);
        assert_eq!(sessions.find(&server, None), Some(session("2")));
        assert_eq!(sessions.find(&endpoint("s", 2), Some("a")), None);
        sessions.forget(&server, Some("a"), &session("other"));
        assert!(sessions.find(&server, Some("a")).is_some());
        sessions.keep(&server, Some("a"), session("3"));
        assert_eq!(sessions.find(&server, Some("a")), Some(session("3")));
        assert_eq!(sessions.take_idle(Duration::from_secs(60)).len(), 0);
        let ended = sessions.take_all("s");
        assert_eq!(ended.len(), 3, "the one that was replaced ends too");
        assert!(sessions.is_empty());
    }

    #[test]
    fn there_are_no_more_than_may_be() {
        let mut sessions = Sessions::default();
        for at in 0..SESSIONS_MAX + 5 {
            let agent = at.to_string();
            sessions.keep(&endpoint("s", 1), Some(&agent), session("1"));
        }
        assert_eq!(
            (sessions.kept.len(), sessions.replaced.len()),
            (SESSIONS_MAX, 5)
        );
        assert!(sessions.find(&endpoint("s", 1), Some("0")).is_none());
        assert_eq!(sessions.take_idle(Duration::ZERO).len(), SESSIONS_MAX + 5);
    }
}
