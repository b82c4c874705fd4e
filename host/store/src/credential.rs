//! Credentials: named secrets that the host adds on the way out. Sealed at rest.

use bulkhead_domain::{Timestamp, id::CredentialId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::{
    Result, Store, StoreError, check, compiled_here,
    sql::{Durability, Row, Statement},
};

/// Bytes of a secret: a private key with its chain of certificates fits.
pub const SECRET_MAX: usize = 64 << 10;
/// Credentials of one installation. A list holds all of them, without pages.
pub const CREDENTIALS_MAX: u64 = 1000;

const COLUMNS: &str = "id, name, placement, audience, created_at, updated_at";

/// A credential to store.
pub struct NewCredential {
    /// The name by which grants and tools mean it.
    pub name: String,
    /// The secret. Wiped from memory when dropped.
    pub secret: Zeroizing<Vec<u8>>,
    /// Where in a request it goes, as the policy writes it.
    pub placement: Value,
    /// To whom it may be sent, as the policy writes it.
    pub audience: Value,
}

impl std::fmt::Debug for NewCredential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewCredential")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A stored credential, without its secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Credential {
    /// Identifies it for as long as its name is taken.
    pub id: CredentialId,
    /// The name by which grants and tools mean it.
    pub name: String,
    /// Where in a request it goes.
    pub placement: Value,
    /// To whom it may be sent.
    pub audience: Value,
    /// When the name was first taken.
    pub created_at: Timestamp,
    /// When the secret was last written.
    pub updated_at: Timestamp,
}

/// A credential with its secret. Never printed, never serialised, wiped when dropped.
pub struct CredentialSecret {
    /// All but the secret.
    pub credential: Credential,
    secret: Zeroizing<Vec<u8>>,
}

impl CredentialSecret {
    /// The secret itself.
    pub fn expose(&self) -> &[u8] {
        &self.secret
    }
}

impl std::fmt::Debug for CredentialSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CredentialSecret")
            .field("credential", &self.credential)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Stores a credential, in place of one with the same name.
    #[compiled_here]
    pub async fn put_credential(&self, new: NewCredential) -> Result<Credential> {
        check::name("the credential's name", &new.name)?;
        if new.secret.len() > SECRET_MAX {
            return Err(StoreError::Quota {
                what: "bytes of the secret",
                limit: SECRET_MAX as u64,
            });
        }
        let placement = check::document("the credential's placement", &new.placement)?;
        let audience = check::document("the credential's audience", &new.audience)?;
        let now = Timestamp::now();
        let mut transaction = self.database().begin(Durability::Power).await?;
        let known = Statement::new("SELECT id FROM credentials WHERE name = $1");
        let known = transaction.optional(known.bind(new.name.as_str())).await?;
        let id = match known {
            Some(row) => row.parsed(0, "credential id")?,
            None => {
                let count = Statement::new("SELECT COUNT(*) FROM credentials");
                let count = transaction.optional(count).await?;
                if count.map_or(Ok(0), |row| row.unsigned(0))? >= CREDENTIALS_MAX {
                    return Err(StoreError::Quota {
                        what: "credentials",
                        limit: CREDENTIALS_MAX,
                    });
                }
                CredentialId::random()
            }
        };
        let id_text = id.to_string();
        let bound = bound(&id_text, &new.name, &placement, &audience);
        let sealed = self.sealer().seal(&new.secret, &bound)?;
        // The id is written too: it is part of what the secret is bound to, and two that
        // take a new name at the same moment have two ids.
        let put = "INSERT INTO credentials
            (id, name, placement, audience, sealed, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $6)
            ON CONFLICT (name) DO UPDATE SET
                id = excluded.id, placement = excluded.placement, audience = excluded.audience,
                sealed = excluded.sealed, updated_at = excluded.updated_at
            RETURNING id, name, placement, audience, created_at, updated_at";
        let put = Statement::new(put)
            .bind(id_text.as_str())
            .bind(new.name.as_str())
            .bind(placement.as_str())
            .bind(audience.as_str())
            .bind(sealed)
            .bind(now);
        let stored = transaction.optional(put).await?;
        let missing = || StoreError::NotFound {
            what: "credential",
            id: new.name.clone(),
        };
        let stored = record(&stored.ok_or_else(missing)?)?;
        transaction.commit().await?;
        Ok(stored)
    }

    /// All credentials by name, without their secrets.
    #[compiled_here]
    pub async fn credentials(&self) -> Result<Vec<Credential>> {
        let mut query = Statement::new("SELECT ");
        query.push(COLUMNS).push(" FROM credentials ORDER BY name");
        self.database()
            .all(query)
            .await?
            .iter()
            .map(record)
            .collect()
    }

    /// A credential with its secret. [`StoreError::Corrupt`] where the row is not as this
    /// installation wrote it.
    #[compiled_here]
    pub async fn reveal_credential(&self, name: &str) -> Result<Option<CredentialSecret>> {
        check::name("the credential's name", name)?;
        let mut query = Statement::new("SELECT ");
        query
            .push(COLUMNS)
            .push(", sealed FROM credentials WHERE name = ")
            .push_value(name);
        let Some(row) = self.database().optional(query).await? else {
            return Ok(None);
        };
        let (id, placement, audience) = (row.text(0)?, row.text(2)?, row.text(3)?);
        let bound = bound(&id, name, &placement, &audience);
        let secret = self.sealer().open(&row.blob(6)?, &bound);
        let secret = secret.ok_or(StoreError::Corrupt {
            what: "credential",
            source: None,
        })?;
        Ok(Some(CredentialSecret {
            credential: record(&row)?,
            secret,
        }))
    }

    /// Deletes a credential. Whether it was there.
    #[compiled_here]
    pub async fn delete_credential(&self, name: &str) -> Result<bool> {
        check::name("the credential's name", name)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        let delete = Statement::new("DELETE FROM credentials WHERE name = $1").bind(name);
        let deleted = transaction.execute(delete).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }
}

/// What a secret is bound to: a row with any of it changed does not open.
fn bound<'a>(id: &'a str, name: &'a str, placement: &'a str, audience: &'a str) -> [&'a str; 5] {
    ["credential", id, name, placement, audience]
}

fn record(row: &Row) -> Result<Credential> {
    Ok(Credential {
        id: row.parsed(0, "credential id")?,
        name: row.text(1)?,
        placement: row.json(2, "credential placement")?,
        audience: row.json(3, "credential audience")?,
        created_at: row.timestamp(4)?,
        updated_at: row.timestamp(5)?,
    })
}
