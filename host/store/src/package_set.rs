//! Package sets: what the requirements of tools were resolved to, by the digest of what was
//! found. The packages themselves lie in folders that whoever fetches them keeps.

use bulkhead_domain::{Digest, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Result, Store, StoreError, check, compiled_here,
    sql::{Durability, Row, Statement},
    tool,
};

/// Bytes of the requirements, and of the list of packages, of one set: some thousand packages
/// with their hashes.
pub const PACKAGE_SET_MAX: usize = 1 << 20;

/// Microseconds after which a use is written down again. What is not used for days goes; a
/// write for each call would cost more than many a call.
pub const TOUCH_MICROS: i64 = 60_000_000;

const COLUMNS: &str = "digest, requirements, packages, size, created_at, last_used_at";

/// A package set to store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPackageSet {
    /// What a tool asked for.
    pub requirements: Value,
    /// What was found for it: names, versions, hashes. Lists are in an order that depends on
    /// nothing else, so that the same packages are the same set.
    pub packages: Value,
    /// Bytes of the packages.
    pub size: u64,
}

impl NewPackageSet {
    /// The digest of the packages: of their JSON without spaces, the fields of each object in
    /// the order of their names. What was asked for makes no difference.
    pub fn digest(&self) -> Digest {
        let mut text = String::new();
        write_canonical(&self.packages, &mut text);
        Digest::of(text.as_bytes())
    }
}

/// A stored package set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackageSet {
    /// Identifies it: [`NewPackageSet::digest`].
    pub digest: Digest,
    /// What the first tool with this set asked for.
    pub requirements: Value,
    /// Names, versions and hashes of its packages.
    pub packages: Value,
    /// Bytes of the packages.
    pub size: u64,
    /// When it was first resolved.
    pub created_at: Timestamp,
    /// When it was last put or touched.
    pub last_used_at: Timestamp,
}

/// Which package sets to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct PackageSetFilter {
    /// Those that were last used before this time.
    pub unused_since: Option<Timestamp>,
    /// Those that no tool refers to; only they can be deleted.
    pub only_unreferenced: bool,
    /// How many at most; [`crate::PAGE_DEFAULT`] where not said, never over [`crate::PAGE_MAX`].
    pub limit: Option<u32>,
}

impl Store {
    /// Stores a package set. One that is there already stays as it is and counts as used now.
    #[compiled_here]
    pub async fn put_package_set(&self, new: NewPackageSet) -> Result<PackageSet> {
        let too_large = "is larger than 1 MiB";
        let json = |what, value| check::json(what, value, PACKAGE_SET_MAX, too_large);
        let requirements = json("the list of requirements", &new.requirements)?;
        let packages = json("the list of packages", &new.packages)?;
        let size = i64::try_from(new.size).map_err(|_| StoreError::Quota {
            what: "bytes of the package set",
            limit: i64::MAX.unsigned_abs(),
        })?;
        let put = "INSERT INTO package_sets
            (digest, requirements, packages, size, created_at, last_used_at)
            VALUES ($1, $2, $3, $4, $5, $5)
            ON CONFLICT (digest) DO UPDATE SET last_used_at =
                CASE WHEN excluded.last_used_at > package_sets.last_used_at
                THEN excluded.last_used_at ELSE package_sets.last_used_at END
            RETURNING ";
        let mut put = Statement::new(put)
            .bind(new.digest().to_string())
            .bind(requirements)
            .bind(packages)
            .bind(size)
            .bind(Timestamp::now());
        put.push(COLUMNS);
        let mut transaction = self.database().begin(Durability::Power).await?;
        let stored = transaction.optional(put).await?;
        let stored = stored.ok_or(StoreError::Corrupt {
            what: "package set",
            source: None,
        })?;
        let stored = record(&stored)?;
        transaction.commit().await?;
        Ok(stored)
    }

    /// The package set with this digest.
    #[compiled_here]
    pub async fn package_set(&self, digest: &Digest) -> Result<Option<PackageSet>> {
        let mut query = select();
        query.push(" AND digest = ").push_value(digest.to_string());
        let row = self.database().optional(query).await?;
        row.as_ref().map(record).transpose()
    }

    /// Remembers that a package set is used now, to about a minute ([`TOUCH_MICROS`]). Whether
    /// it is there.
    #[compiled_here]
    pub async fn touch_package_set(&self, digest: &Digest) -> Result<bool> {
        let now = Timestamp::now();
        let query = "SELECT last_used_at FROM package_sets WHERE digest = $1";
        let query = Statement::new(query).bind(digest.to_string());
        let Some(row) = self.database().optional(query).await? else {
            return Ok(false);
        };
        let due = row.int(0)?.saturating_add(TOUCH_MICROS) <= now.micros();
        if !due {
            return Ok(true);
        }
        let touch = "UPDATE package_sets SET last_used_at =
            CASE WHEN last_used_at < $1 THEN $1 ELSE last_used_at END WHERE digest = $2";
        let touch = Statement::new(touch).bind(now).bind(digest.to_string());
        let mut transaction = self.database().begin(Durability::Process).await?;
        let touched = transaction.execute(touch).await? > 0;
        transaction.commit().await?;
        Ok(touched)
    }

    /// Package sets, the least recently used first.
    #[compiled_here]
    pub async fn package_sets(&self, filter: &PackageSetFilter) -> Result<Vec<PackageSet>> {
        let mut query = select();
        query.push_if(" AND last_used_at < ", filter.unused_since);
        if filter.only_unreferenced {
            query.push(
                " AND NOT EXISTS (SELECT 1 FROM tools WHERE tools.packages = package_sets.digest)",
            );
        }
        query.push(" ORDER BY last_used_at, digest LIMIT ");
        query.push_value(check::page(filter.limit));
        self.database()
            .all(query)
            .await?
            .iter()
            .map(record)
            .collect()
    }

    /// Deletes a package set; [`StoreError::InUse`] where a tool refers to it. Whether it was
    /// there.
    #[compiled_here]
    pub async fn delete_package_set(&self, digest: &Digest) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        tool::lock(&mut transaction).await?;
        let user = "SELECT name FROM tools WHERE packages = $1 ORDER BY name LIMIT 1";
        let user = Statement::new(user).bind(digest.to_string());
        if let Some(row) = transaction.optional(user).await? {
            return Err(StoreError::InUse {
                what: "package set",
                by: format!("tool {}", row.text(0)?),
            });
        }
        let delete = Statement::new("DELETE FROM package_sets WHERE digest = $1");
        let deleted = transaction.execute(delete.bind(digest.to_string())).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }
}

fn select() -> Statement {
    let mut query = Statement::new("SELECT ");
    query.push(COLUMNS).push(" FROM package_sets WHERE 1 = 1");
    query
}

fn record(row: &Row) -> Result<PackageSet> {
    Ok(PackageSet {
        digest: row.parsed(0, "digest")?,
        requirements: row.json(1, "requirements of a package set")?,
        packages: row.json(2, "packages of a package set")?,
        size: row.unsigned(3)?,
        created_at: row.timestamp(4)?,
        last_used_at: row.timestamp(5)?,
    })
}

/// JSON that is the same text for the same value, whatever order its fields were written in.
fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                write_canonical(item, text);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (index, (name, field)) in fields.into_iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write_canonical(field, text);
            }
            text.push('}');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_digest_is_that_of_the_packages_in_canonical_json() {
        let set = |packages| NewPackageSet {
            requirements: json!([{ "name": "x" }]),
            packages,
            size: 1,
        };
        let one = set(json!([{ "name": "a\"", "version": "1", "hashes": [true, null, 2] }]));
        let canonical = br#"[{"hashes":[true,null,2],"name":"a\"","version":"1"}]"#;
        assert_eq!(one.digest(), Digest::of(canonical));
        let asked_otherwise = NewPackageSet {
            requirements: json!([]),
            ..one.clone()
        };
        assert_eq!(asked_otherwise.digest(), one.digest());
        let other = set(json!([{ "name": "a\"", "version": "2", "hashes": [true, null, 2] }]));
        assert_ne!(other.digest(), one.digest());
    }
}
