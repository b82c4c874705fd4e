//! Which receipts are of which step.

use std::collections::HashMap;

use bulkhead_domain::{
    Receipt,
    id::{ReceiptId, StepId},
};

use crate::{
    Result, Store, compiled_here,
    message::lists,
    receipt::column,
    sql::{Statement, Transaction},
};

/// Fuel that is believed of one step, some hours of work: sums stay far from the largest number.
const FUEL_MAX: i64 = 1 << 44;

impl Store {
    /// The receipts of a step's tool calls, each with the id of its call, in the order in which
    /// they were committed. One that was pruned is missing. Of an id that a model made longer
    /// than [`crate::check::NAME_MAX`] there is the beginning.
    #[compiled_here]
    pub async fn receipts_of_step(&self, id: &StepId) -> Result<Vec<(String, Receipt)>> {
        let found = self.receipts_of_steps(std::slice::from_ref(id)).await?;
        Ok(found.into_values().next().unwrap_or_default())
    }

    /// The same for many steps; a step without receipts has no entry.
    #[compiled_here]
    pub async fn receipts_of_steps(
        &self,
        ids: &[StepId],
    ) -> Result<HashMap<StepId, Vec<(String, Receipt)>>> {
        let mut found: HashMap<_, Vec<_>> = HashMap::new();
        for list in lists(ids) {
            let mut query = Statement::new(
                "SELECT step_id, tool_call_id, document
                FROM step_receipts JOIN receipts ON receipts.id = receipt_id
                WHERE step_id IN (",
            );
            query.push_list(list);
            query.push(" ORDER BY seq");
            for row in &self.database().all(query).await? {
                let step_id: StepId = row.parsed(0, "step of a receipt")?;
                let receipt = (row.text(1)?, row.json(2, "receipt")?);
                found.entry(step_id).or_default().push(receipt);
            }
        }
        Ok(found)
    }
}

/// Adds the fuel of receipts to that of their step: each receipt is committed once.
pub(super) async fn add_fuel<'a>(
    transaction: &mut Transaction,
    step_id: &StepId,
    receipts: impl Iterator<Item = &'a Receipt>,
) -> Result<()> {
    let fuel = receipts.fold(0, |sum: u64, receipt| {
        sum.saturating_add(receipt.fuel.total())
    });
    if fuel == 0 {
        return Ok(());
    }
    let add = "UPDATE steps SET fuel = CASE WHEN fuel > $3 - $2 THEN $3 ELSE fuel + $2 END
        WHERE id = $1";
    let add = Statement::new(add)
        .bind(step_id.to_string())
        .bind(i64::try_from(fuel).map_or(FUEL_MAX, |fuel| fuel.min(FUEL_MAX)))
        .bind(FUEL_MAX);
    transaction.defer(add).await
}

pub(super) async fn link(
    transaction: &mut Transaction,
    step_id: &StepId,
    tool_call_id: &str,
    receipt_id: &ReceiptId,
) -> Result<()> {
    let insert = "INSERT INTO step_receipts (step_id, tool_call_id, receipt_id)
        VALUES ($1, $2, $3) ON CONFLICT (step_id, tool_call_id, receipt_id) DO NOTHING";
    let insert = Statement::new(insert)
        .bind(step_id.to_string())
        .bind(column(tool_call_id))
        .bind(receipt_id.to_string());
    transaction.defer(insert).await
}
