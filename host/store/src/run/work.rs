//! Runs by what they did: how long they took, how many steps, which tools.

use bulkhead_domain::{Timestamp, id::RunId};

use crate::{Result, check, paging::check_filter, sql::Statement};

/// How a number of a run is to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// The same.
    Equal,
    /// Less.
    Less,
    /// Not more.
    AtMost,
    /// More.
    Greater,
    /// Not less.
    AtLeast,
}

impl Comparison {
    fn sql(self) -> &'static str {
        match self {
            Self::Equal => " = ",
            Self::Less => " < ",
            Self::AtMost => " <= ",
            Self::Greater => " > ",
            Self::AtLeast => " >= ",
        }
    }
}

/// What runs did that are to be listed. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct RunWork {
    /// This run alone.
    pub run_id: Option<RunId>,
    /// Of agents of this project.
    pub project_id: Option<String>,
    /// Of agents that were made from this base template.
    pub base_template_id: Option<String>,
    /// With so many steps.
    pub steps: Option<(Comparison, i64)>,
    /// With a result of one of these tools, by id or name.
    pub tools: Option<Vec<String>>,
    /// That took so many nanoseconds.
    pub duration_ns: Option<(Comparison, i64)>,
    /// Not faster than so many percent of all runs that ended.
    pub slower_than_percent: Option<u8>,
    /// Made then or later.
    pub since: Option<Timestamp>,
    /// Made then or earlier.
    pub until: Option<Timestamp>,
}

impl RunWork {
    /// Refuses what no statement takes.
    pub(super) fn check(&self) -> Result<()> {
        check_filter(
            "the filter's list of tools",
            self.tools.iter().flatten().map(String::as_str),
        )?;
        let texts = [&self.project_id, &self.base_template_id];
        for text in texts.into_iter().flatten() {
            check::text("the filter", text, check::NAME_MAX)?;
        }
        Ok(())
    }

    pub(super) fn push_conditions(&self, query: &mut Statement) {
        query.push_if(" AND id = ", self.run_id.map(|id| id.to_string()));
        for (column, value) in [
            ("project_id = ", &self.project_id),
            ("base_template_id = ", &self.base_template_id),
        ] {
            if let Some(value) = value {
                query.push(" AND agent_id IN (SELECT id FROM agents WHERE ");
                query.push(column).push_value(value.as_str()).push(")");
            }
        }
        if let Some((comparison, count)) = self.steps {
            query.push(" AND (SELECT COUNT(*) FROM steps s WHERE s.run_id = runs.id)");
            query.push(comparison.sql()).push_value(count);
        }
        if let Some(tools) = &self.tools {
            // A message has the names of its tools as a list in JSON.
            query.push(
                " AND EXISTS (SELECT 1 FROM messages m, tools t WHERE m.run_id = runs.id
                AND REPLACE(m.tool_names, '\"' || t.name || '\"', '') <> m.tool_names
                AND (t.name IN (",
            );
            query.push_list(tools.iter().map(String::as_str));
            query.push(" OR t.id IN (");
            query.push_list(tools.iter().map(String::as_str));
            query.push("))");
        }
        if let Some((comparison, nanoseconds)) = self.duration_ns {
            query.push(" AND total_duration_ns").push(comparison.sql());
            query.push_value(nanoseconds);
        }
        if let Some(percent) = self.slower_than_percent {
            query.push(
                " AND total_duration_ns >= (SELECT MIN(took) FROM (SELECT total_duration_ns AS took,
                ROW_NUMBER() OVER (ORDER BY total_duration_ns) - 1 AS faster,
                COUNT(*) OVER () - 1 AS others FROM runs WHERE total_duration_ns IS NOT NULL)
                AS ended WHERE faster * 100 >= others * ",
            );
            query.push_value(i64::from(percent)).push(")");
        }
        query.push_if(" AND created_at >= ", self.since);
        query.push_if(" AND created_at <= ", self.until);
    }
}
