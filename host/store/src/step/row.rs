//! A step as a row.

use bulkhead_domain::{Step, Usage, id::StepId};
use serde_json::Value;

use crate::{
    Result, StoreError, check,
    receipt::column,
    sql::{Row, Statement, Transaction},
};

/// Bytes of what is known of a step's error; of more a note is left.
pub const ERROR_DATA_MAX: usize = 64 << 10;
/// Tags of one step. A person reads them.
pub const TAGS_MAX: usize = 256;
/// Tokens that are believed of one step: no model has nearly as many, and sums stay far from
/// the largest number.
const TOKENS_MAX: i64 = 1 << 40;

/// The columns of [`record`], in its order.
pub(super) const COLUMNS: &str = "document, run_id, feedback, tid, tags";

/// The query for whose step this is already, for [`expect_own`].
pub(super) fn agent_of_step(step: &Step) -> Statement {
    Statement::new("SELECT agent_id FROM steps WHERE id = $1").bind(step.id.to_string())
}

/// Refuses a step whose id is that of another agent's.
pub(super) fn expect_own(step: &Step, rows: &[Row]) -> Result<()> {
    match rows.first() {
        Some(row) if row.text(0)? != step.agent_id.to_string() => Err(StoreError::Invalid {
            what: "the step's id",
            reason: "is that of another agent's step",
        }),
        _ => Ok(()),
    }
}

/// Writes a step that is this agent's or new. What a client said of it stays where the step has
/// nothing in its place.
pub(super) async fn put_step(transaction: &mut Transaction, step: &Step) -> Result<()> {
    let document = document(step)?;
    let usage = step.usage;
    let put = "INSERT INTO steps (id, agent_id, run_id, model, feedback, tid, project_id, tags,
            completion_tokens, prompt_tokens, total_tokens, cached_input_tokens,
            cache_write_tokens, reasoning_tokens, created_at, size, document,
            model_handle)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
        ON CONFLICT (id) DO UPDATE SET
            run_id = excluded.run_id, model = excluded.model,
            feedback = COALESCE(excluded.feedback, steps.feedback),
            tid = COALESCE(excluded.tid, steps.tid), project_id = excluded.project_id,
            tags = CASE WHEN excluded.tags = '[]' THEN steps.tags ELSE excluded.tags END,
            completion_tokens = excluded.completion_tokens,
            prompt_tokens = excluded.prompt_tokens, total_tokens = excluded.total_tokens,
            cached_input_tokens = excluded.cached_input_tokens,
            cache_write_tokens = excluded.cache_write_tokens,
            reasoning_tokens = excluded.reasoning_tokens, size = excluded.size,
            document = excluded.document, model_handle = excluded.model_handle
        WHERE steps.agent_id = excluded.agent_id";
    let put = Statement::new(put)
        .bind(step.id.to_string())
        .bind(step.agent_id.to_string())
        .bind(step.run_id.map(|id| id.to_string()))
        .bind(step.model.as_deref())
        .bind(step.feedback.as_deref())
        .bind(step.tid.as_deref())
        .bind(step.project_id.as_deref())
        .bind(tags_document(&step.tags)?)
        .bind(tokens(usage.completion_tokens))
        .bind(tokens(usage.prompt_tokens))
        .bind(tokens(usage.total_tokens))
        .bind(usage.cached_input_tokens.map(tokens))
        .bind(usage.cache_write_tokens.map(tokens))
        .bind(usage.reasoning_tokens.map(tokens))
        .bind(step.created_at)
        .bind(i64::try_from(document.len()).unwrap_or(i64::MAX))
        .bind(document)
        .bind(step.model_handle.as_deref().map(column));
    transaction.defer(put).await?;
    if step.tags.is_empty() {
        return Ok(());
    }
    put_tags(transaction, &step.id, &step.tags).await
}

/// Writes the tags by which steps are found.
pub(super) async fn put_tags(
    transaction: &mut Transaction,
    id: &StepId,
    tags: &[String],
) -> Result<()> {
    let delete = Statement::new("DELETE FROM step_tags WHERE step_id = $1");
    transaction.defer(delete.bind(id.to_string())).await?;
    for tag in tags {
        let insert = "INSERT INTO step_tags (step_id, tag) VALUES ($1, $2)
            ON CONFLICT (step_id, tag) DO NOTHING";
        let insert = Statement::new(insert)
            .bind(id.to_string())
            .bind(tag.as_str());
        transaction.defer(insert).await?;
    }
    Ok(())
}

pub(super) fn tags_document(tags: &[String]) -> Result<String> {
    if tags.len() > TAGS_MAX {
        return Err(StoreError::Quota {
            what: "tags of one step",
            limit: TAGS_MAX as u64,
        });
    }
    for tag in tags {
        check::text("a tag of the step", tag, check::NAME_MAX)?;
    }
    check::document("the step's tags", &tags)
}

fn document(step: &Step) -> Result<String> {
    for (what, value) in [
        ("the step's model", &step.model),
        ("the step's feedback", &step.feedback),
        ("the step's transaction", &step.tid),
        ("the step's project", &step.project_id),
    ] {
        check::text(what, value.as_deref().unwrap_or_default(), check::NAME_MAX)?;
    }
    let mut step = step.clone();
    if let Some(data) = step.error_data.as_mut()
        && let Err(note) = bounded(data, ERROR_DATA_MAX)
    {
        *data = note;
    }
    check::document("the step", &step)
}

/// A document as text; a note of its size where it has more than `max` bytes or nests too deep.
pub(super) fn bounded(value: &Value, max: usize) -> Result<String, Value> {
    check::json("the document", value, max, "is too large").map_err(|_| {
        let bytes = serde_json::to_string(value).map_or(0, |text| text.len());
        serde_json::json!({
            "omitted": "more than is kept",
            "bytes": bytes,
            "bytes_max": max,
        })
    })
}

fn tokens(count: i64) -> i64 {
    count.clamp(0, TOKENS_MAX)
}

pub(super) fn record(row: &Row) -> Result<Step> {
    let step: Step = row.json(0, "step")?;
    Ok(Step {
        run_id: row.optional_parsed(1, "run of a step")?,
        feedback: row.optional_text(2)?,
        tid: row.optional_text(3)?,
        tags: row.json(4, "tags of a step")?,
        ..step
    })
}

/// Sums of [`SUMS`].
pub(crate) fn usage(row: &Row) -> Result<Usage> {
    let sum = |column| Ok::<_, StoreError>(row.optional_int(column)?.unwrap_or(0));
    Ok(Usage {
        completion_tokens: sum(0)?,
        prompt_tokens: sum(1)?,
        total_tokens: sum(2)?,
        cached_input_tokens: row.optional_int(3)?,
        cache_write_tokens: row.optional_int(4)?,
        reasoning_tokens: row.optional_int(5)?,
    })
}

/// What steps cost together, for [`usage`]. A sum of BIGINT has another type on Postgres.
pub(crate) const SUMS: &str = "CAST(SUM(completion_tokens) AS BIGINT),
    CAST(SUM(prompt_tokens) AS BIGINT), CAST(SUM(total_tokens) AS BIGINT),
    CAST(SUM(cached_input_tokens) AS BIGINT), CAST(SUM(cache_write_tokens) AS BIGINT),
    CAST(SUM(reasoning_tokens) AS BIGINT)";
