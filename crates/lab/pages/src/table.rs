//! Tables of a record in HTML.

use std::fmt::{self, Display};

use super::escape::Escaped;
use undertone_lab::record::Table;

/// Longest cell that counts as a number; longer cells are words, whatever they start with.
const MAX_NUMBER_CHARS: usize = 24;

/// Rows of a table under their header, with the title above.
pub(super) struct Rows<'a>(pub(super) &'a Table);

impl Display for Rows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.0;
        let title = Escaped(&table.title);
        write!(
            f,
            "<h3>{title}</h3>\n\
             <div class=\"scroll tall\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\n\
             <table>\n<thead><tr>"
        )?;
        let classes: Vec<&str> = (0..table.columns.len())
            .map(|column| {
                if is_numeric(table, column) {
                    " class=\"n\""
                } else {
                    ""
                }
            })
            .collect();
        for (column, class) in table.columns.iter().zip(&classes) {
            write!(f, "<th scope=\"col\"{class}>{}</th>", Escaped(column))?;
        }
        f.write_str("</tr></thead>\n<tbody>\n")?;
        for row in &table.rows {
            f.write_str("<tr>")?;
            for (number, cell) in row.iter().enumerate() {
                let class = classes.get(number).unwrap_or(&"");
                let cell = Escaped(cell);
                match number {
                    0 => write!(f, "<th scope=\"row\"{class}>{cell}</th>")?,
                    _ => write!(f, "<td{class}>{cell}</td>")?,
                }
            }
            f.write_str("</tr>\n")?;
        }
        f.write_str("</tbody>\n</table>\n</div>\n")
    }
}

/// Whether a column holds numbers, which are right-aligned. In the first column, which names the rows, a
/// cell with letters is not a number.
fn is_numeric(table: &Table, column: usize) -> bool {
    let mut cells = table.rows.iter().filter_map(|row| row.get(column));
    let is_number = |cell: &String| {
        let digits = cell.trim_start_matches(['+', '-', '−', '±', '≥', '≤', '<', '>', ' ']);
        let starts = digits.starts_with(|c: char| c.is_ascii_digit());
        let has_words = column == 0 && cell.contains(char::is_alphabetic);
        cell.is_empty() || (starts && !has_words && cell.chars().count() <= MAX_NUMBER_CHARS)
    };
    cells.all(is_number)
}
