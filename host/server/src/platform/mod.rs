//! What requests of people share: their passwords, their tokens, who asked lately, and what models
//! cost.

pub(crate) mod known;
pub(crate) mod prices;

use bulkhead_access::{Passwords, Principal, Throttle, TokenKey, password};
use bulkhead_domain::{
    Timestamp,
    platform::{SessionId, User, UserId},
};
use bulkhead_store::{InstallationKey, Store, StoreError};

use self::{known::Known, prices::Prices};

/// What the key that signs tokens is derived for.
const TOKEN_PURPOSE: &str = "bulkhead access tokens v1";

/// The parts of a server that know people.
pub(crate) struct Platform {
    /// Hashes and compares passwords.
    pub(crate) passwords: Passwords,
    /// Signs and checks tokens.
    pub(crate) tokens: TokenKey,
    /// How often somebody may try a password.
    pub(crate) throttle: Throttle,
    /// What models cost.
    pub(crate) prices: Prices,
    /// Whether people may make accounts for themselves.
    pub(crate) registration: bool,
    known: Known,
}

/// Whose request it is.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// Who asks.
    pub(crate) principal: Principal,
    /// The person's sign-in.
    pub(crate) session: Option<SessionId>,
}

/// Why a token does not count.
#[derive(Debug)]
pub(crate) enum TokenRefused {
    /// It is none of ours, or is one that counts no more; the text is for the client.
    Invalid(&'static str),
    /// It could not be found out.
    Store(StoreError),
}

impl Platform {
    /// The parts of an installation.
    pub(crate) fn new(
        key: &InstallationKey,
        prices: Prices,
        registration: bool,
    ) -> Result<Self, password::StartError> {
        Ok(Self {
            passwords: Passwords::start()?,
            tokens: TokenKey::new(key.derive(TOKEN_PURPOSE)),
            throttle: Throttle::new(),
            prices,
            registration,
            known: Known::default(),
        })
    }

    /// Whose access token it is. Whoever was signed out, locked out or lost a right elsewhere, on
    /// another server of the same database, is noticed within [`known::MAX_AGE`].
    pub(crate) async fn caller(&self, store: &Store, token: &str) -> Result<Caller, TokenRefused> {
        let access = self.tokens.check_access(token, Timestamp::now());
        let access = access.map_err(|error| TokenRefused::Invalid(error.advice()))?;
        self.signed_in(store, access.session, access.user).await
    }

    /// Who this user is in this sign-in, as long as it goes on.
    pub(crate) async fn signed_in(
        &self,
        store: &Store,
        session: SessionId,
        user_id: UserId,
    ) -> Result<Caller, TokenRefused> {
        let user = match self.known.find(session) {
            Some(user) => user,
            None => {
                let moment = self.known.moment();
                let user = read(store, session).await?;
                self.known.learn(moment, session, user.clone());
                user
            }
        };
        match user {
            Some(user) if user.id == user_id => Ok(Caller {
                principal: Principal::User {
                    id: user.id,
                    is_superuser: user.is_superuser,
                },
                session: Some(session),
            }),
            _ => Err(TokenRefused::Invalid(
                "the sign-in of this token has ended; sign in again",
            )),
        }
    }

    /// Somebody changed what was known of sign-ins and users: all of it is read anew.
    pub(crate) fn changed(&self) {
        self.known.forget();
    }
}

/// The user of a sign-in, where it goes on.
async fn read(store: &Store, session: SessionId) -> Result<Option<User>, TokenRefused> {
    let session = store.session(session).await.map_err(TokenRefused::Store)?;
    let Some(session) = session.filter(|session| session.is_living(Timestamp::now())) else {
        return Ok(None);
    };
    let user = store.user(session.user_id).await;
    let user = user.map_err(TokenRefused::Store)?;
    Ok(user.filter(|user| user.is_active))
}

impl Caller {
    /// Nobody.
    pub(crate) const ANONYMOUS: Self = Self {
        principal: Principal::Anonymous,
        session: None,
    };
    /// Who runs the server.
    pub(crate) const INSTALLATION: Self = Self {
        principal: Principal::Installation,
        session: None,
    };
}

/// What to do about a token that does not count.
trait Advice {
    fn advice(&self) -> &'static str;
}

impl Advice for bulkhead_access::TokenError {
    fn advice(&self) -> &'static str {
        match self {
            Self::Expired => {
                "the access token has expired; get a new one with the refresh token, or sign in again"
            }
            Self::WrongKind => {
                "this is no access token; a refresh token is used at /api/v1/auth/refresh alone"
            }
            _ => "the access token was not made by this server; sign in to get one",
        }
    }
}
