//! Tables of data as GFM tables.

use crate::dom::{Dom, NodeId, Step};
use crate::main_content::MainContent;

/// Columns that a table may have; a wider one is not read by anybody as text.
const MAX_COLUMNS: usize = 64;

/// A table of data with its cells, not rendered yet.
#[derive(Debug)]
pub(crate) struct Table {
    /// The caption, where there is one.
    pub(crate) caption: Option<NodeId>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    in_head: bool,
    all_headers: bool,
    cells: Vec<Cell>,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    node: NodeId,
    columns: usize,
    rows: usize,
}

impl Table {
    /// Reads a table. None if it only lays out the page: one column or row, another table, a
    /// heading or a block of code inside, or a role that says so.
    pub(crate) fn read(dom: &Dom, main: &MainContent, top: NodeId) -> Option<Self> {
        if matches!(
            dom.attribute(top, "role").map(str::trim),
            Some("presentation" | "none")
        ) {
            return None;
        }
        let mut table = Self {
            caption: None,
            rows: Vec::new(),
        };
        let mut is_layout = false;
        dom.walk(top, |step| {
            let Step::Enter(id) = step else { return true };
            if is_layout || !main.shows(id) {
                return false;
            }
            match dom.name(id) {
                "table" => is_layout |= id != top,
                "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "pre" | "blockquote" | "hr" => {
                    is_layout = true;
                }
                "caption" => table.caption = table.caption.or(Some(id)),
                "tr" => {
                    let in_head = dom
                        .parent(id)
                        .is_some_and(|parent| dom.name(parent) == "thead");
                    table.rows.push(Row {
                        in_head,
                        all_headers: true,
                        cells: Vec::new(),
                    });
                }
                "td" | "th" => table.cell(dom, id),
                _ => {}
            }
            true
        });
        table.rows.retain(|row| !row.cells.is_empty());
        let width = table
            .rows
            .iter()
            .map(|row| row.cells.len())
            .max()
            .unwrap_or(0);
        (!is_layout && width > 1 && table.rows.len() > 1).then_some(table)
    }

    fn cell(&mut self, dom: &Dom, node: NodeId) {
        let span = |name| {
            let span = dom
                .attribute(node, name)
                .and_then(|value| value.trim().parse::<usize>().ok());
            span.unwrap_or(1).clamp(1, MAX_COLUMNS)
        };
        if let Some(row) = self.rows.last_mut() {
            row.all_headers &= dom.name(node) == "th";
            row.cells.push(Cell {
                node,
                columns: span("colspan"),
                rows: span("rowspan"),
            });
        }
    }

    /// Writes the table; `render` gives the text of a cell.
    pub(crate) fn write(&self, mut render: impl FnMut(NodeId) -> String) -> String {
        // For each column, how many more rows a cell from above covers.
        let mut covered = [0usize; MAX_COLUMNS];
        let mut lines: Vec<Vec<String>> = Vec::new();
        for row in &self.rows {
            let mut line: Vec<String> = Vec::new();
            for cell in &row.cells {
                skip_covered(&mut line, &mut covered);
                let columns = covered.iter_mut().skip(line.len()).take(cell.columns);
                for (at, below) in columns.enumerate() {
                    *below = cell.rows - 1;
                    line.push(if at == 0 {
                        render(cell.node)
                    } else {
                        String::new()
                    });
                }
            }
            skip_covered(&mut line, &mut covered);
            lines.push(line);
        }
        lines.retain(|line| line.iter().any(|cell| !cell.is_empty()));
        let width = lines.iter().map(Vec::len).max().unwrap_or(0);
        let used: Vec<usize> = (0..width)
            .filter(|at| {
                lines
                    .iter()
                    .any(|line| line.get(*at).is_some_and(|cell| !cell.is_empty()))
            })
            .collect();
        let mut out = String::new();
        let mut put = |line: &[String]| {
            out.push('|');
            for at in &used {
                out.push(' ');
                out.push_str(line.get(*at).map_or("", String::as_str));
                out.push_str(" |");
            }
            out.push('\n');
        };
        let mut rest = lines.iter();
        // GFM knows no table without a header, so one without has an empty one.
        let has_header = self
            .rows
            .first()
            .is_some_and(|row| row.in_head || row.all_headers);
        let header = if has_header { rest.next() } else { None };
        put(header.map_or(&[], Vec::as_slice));
        put(&vec!["---".to_owned(); width]);
        rest.for_each(|line| put(line));
        out.truncate(out.trim_end().len());
        out
    }
}

fn skip_covered(line: &mut Vec<String>, covered: &mut [usize; MAX_COLUMNS]) {
    while let Some(rows) = covered.get_mut(line.len())
        && *rows > 0
    {
        *rows -= 1;
        line.push(String::new());
    }
}
