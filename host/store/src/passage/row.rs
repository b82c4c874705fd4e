//! A passage as a row.

use bulkhead_domain::Passage;

use crate::{
    Result, StoreError, check,
    search::searchable,
    sql::{Row, Statement, Transaction},
};

/// Bytes of a text; embedding models take much less.
pub const TEXT_MAX: usize = 256 << 10;
/// Tags of one passage. A person or a model reads them.
pub const TAGS_MAX: usize = 256;
/// Numbers of a vector; the largest of known models are a quarter of it.
pub const VECTOR_MAX: usize = 16_384;
/// Bytes of all that the document has beside the text.
const DOCUMENT_MAX: usize = 1 << 20;

/// The columns of [`record_at`], in its order.
pub(super) const COLUMNS: &str = "document, embedding";

/// Writes a new passage and its tags.
pub(super) async fn insert(transaction: &mut Transaction, passage: &Passage) -> Result<()> {
    let document = document(passage)?;
    let vector = passage.embedding.as_deref().map(bytes);
    let size = document.len() + vector.as_ref().map_or(0, Vec::len);
    let insert = "INSERT INTO passages
            (id, archive_id, created_at, text_folded, embedding, size, document)
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let insert = Statement::new(insert)
        .bind(passage.id.to_string())
        .bind(passage.archive_id.to_string())
        .bind(passage.created_at)
        .bind(searchable(&passage.text))
        .bind(vector)
        .bind(i64::try_from(size).unwrap_or(i64::MAX))
        .bind(document);
    transaction.defer(insert).await?;
    for tag in &passage.tags {
        let insert = "INSERT INTO passage_tags (passage_id, tag) VALUES ($1, $2)
            ON CONFLICT (passage_id, tag) DO NOTHING";
        let insert = Statement::new(insert)
            .bind(passage.id.to_string())
            .bind(tag.as_str());
        transaction.defer(insert).await?;
    }
    Ok(())
}

/// All but the vector, which as text would take three times the space.
fn document(passage: &Passage) -> Result<String> {
    check::text("the passage's text", &passage.text, TEXT_MAX)?;
    if passage.tags.len() > TAGS_MAX {
        return Err(StoreError::Quota {
            what: "tags of one passage",
            limit: TAGS_MAX as u64,
        });
    }
    for tag in &passage.tags {
        check::text("a tag of the passage", tag, check::NAME_MAX)?;
    }
    if passage.embedding.as_ref().map_or(0, Vec::len) > VECTOR_MAX {
        return Err(StoreError::Quota {
            what: "numbers of the passage's vector",
            limit: VECTOR_MAX as u64,
        });
    }
    let passage = Passage {
        embedding: None,
        ..passage.clone()
    };
    let what = "the passage";
    let unwritable = |_| StoreError::Invalid {
        what,
        reason: "cannot be written as JSON",
    };
    let value = serde_json::to_value(&passage).map_err(unwritable)?;
    let reason = "is larger than 1 MiB";
    check::json(what, &value, TEXT_MAX + DOCUMENT_MAX, reason)
}

fn bytes(vector: &[f32]) -> Vec<u8> {
    vector
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

fn vector(bytes: &[u8]) -> Result<Vec<f32>> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(StoreError::Corrupt {
            what: "vector of a passage",
            source: None,
        });
    }
    Ok(numbers
        .iter()
        .map(|number| f32::from_le_bytes(*number))
        .collect())
}

/// Reads [`COLUMNS`], the first of which is column `first`.
pub(super) fn record_at(row: &Row, first: usize) -> Result<Passage> {
    let passage: Passage = row.json(first, "passage")?;
    let embedding = row.optional_blob(first + 1)?;
    Ok(Passage {
        embedding: embedding.as_deref().map(vector).transpose()?,
        ..passage
    })
}
