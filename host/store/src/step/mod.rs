//! Steps: each call of a model with the tools that it called, what it cost, what was sent, and the
//! receipts of its tool calls.

mod commit;
mod filter;
mod receipts;
mod row;
mod trace;

use bulkhead_domain::{Step, id::StepId};

use crate::{
    Result, Store, StoreError, check, compiled_here,
    sql::{Durability, Statement, Transaction},
};

pub(crate) use commit::write_stop_reason;
pub use commit::{Committed, ContextChange, StepCommit, SystemContent};
pub use filter::StepFilter;
pub use row::{ERROR_DATA_MAX, TAGS_MAX};
pub(crate) use row::{SUMS, usage};
pub use trace::{TRACE_BYTES_MAX, TRACES_MAX};

impl Store {
    /// The step with this id.
    #[compiled_here]
    pub async fn step(&self, id: &StepId) -> Result<Option<Step>> {
        let mut query = Statement::new("SELECT ");
        query.push(row::COLUMNS).push(" FROM steps WHERE id = ");
        query.push_value(id.to_string());
        let row = self.database().optional(query).await?;
        row.as_ref().map(row::record).transpose()
    }

    /// Notes what a person thinks of a step: `positive` or `negative`, or nothing any more. Tags
    /// take the place of the step's where they are given.
    #[compiled_here]
    pub async fn set_step_feedback(
        &self,
        id: &StepId,
        feedback: Option<&str>,
        tags: Option<&[String]>,
    ) -> Result<Step> {
        if !matches!(feedback, None | Some("positive" | "negative")) {
            return Err(StoreError::Invalid {
                what: "the feedback",
                reason: "is neither positive nor negative",
            });
        }
        let document = tags.map(row::tags_document).transpose()?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        let mut update = Statement::new("UPDATE steps SET feedback = ");
        update.push_value(feedback).push(", tags = COALESCE(");
        update.push_value(document).push(", tags)");
        let step = finish(&mut transaction, update, id).await?;
        if let Some(tags) = tags {
            row::put_tags(&mut transaction, id, tags).await?;
        }
        transaction.commit().await?;
        Ok(step)
    }

    /// Notes that these calls of a step begin to run, and gives those of all its calls that had begun
    /// before and have no stored result: [`Step::begun_calls`] as it was. A step that is not there
    /// has none.
    #[compiled_here]
    pub async fn begin_calls(&self, id: &StepId, calls: &[String]) -> Result<Vec<String>> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let mut query = Statement::new("SELECT ");
        query.push(row::COLUMNS).push(" FROM steps WHERE id = ");
        query.push_value(id.to_string());
        query.push(transaction.for_update());
        let Some(row) = transaction.optional(query).await? else {
            return Ok(Vec::new());
        };
        let mut step = row::record(&row)?;
        let before = step.begun_calls.clone();
        let new = calls.iter().filter(|call| !before.contains(call));
        step.begun_calls.extend(new.cloned());
        row::put_step(&mut transaction, &step).await?;
        transaction.commit().await?;
        Ok(before)
    }

    /// Notes the transaction, in a client's own books, that a step belongs to.
    #[compiled_here]
    pub async fn set_step_transaction(&self, id: &StepId, tid: &str) -> Result<Step> {
        check::text("the transaction", tid, check::NAME_MAX)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        let mut update = Statement::new("UPDATE steps SET tid = ");
        update.push_value(tid);
        let step = finish(&mut transaction, update, id).await?;
        transaction.commit().await?;
        Ok(step)
    }
}

/// Runs an update of one step, and gives the step.
async fn finish(transaction: &mut Transaction, mut update: Statement, id: &StepId) -> Result<Step> {
    update.push(" WHERE id = ").push_value(id.to_string());
    update.push(" RETURNING ").push(row::COLUMNS);
    let missing = || StoreError::NotFound {
        what: "step",
        id: id.to_string(),
    };
    let row = transaction.optional(update).await?;
    row::record(&row.ok_or_else(missing)?)
}
