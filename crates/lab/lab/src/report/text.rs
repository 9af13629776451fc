//! Tables of figures for the terminal.

use std::fmt::{self, Display};
use std::slice;

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use super::histogram::{bar, histogram};
use super::{Campaign, Latency, Summary, attack_table, group_table};

impl Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.head(f)?;
        let mut rows = vec![("all that count".to_owned(), self.latency_ms)];
        if let Some(warm_up) = &self.warm_up {
            rows.push((
                format!("first {}, left out", warm_up.messages),
                warm_up.latency_ms,
            ));
        }
        writeln!(f, "\nlatency, ms\n{}", latency_table("", &rows))?;
        write!(f, "\n{}", histogram(self.sorted_ms.values()))?;
        self.hops(f)?;
        self.traffic(f)?;
        if let Some(table) = group_table(&[(String::new(), self)]) {
            writeln!(f, "\n{}\n{}", table.title, table.drawn())?;
        }
        if let Some(attack) = &self.attack {
            write!(f, "{attack}")?;
        }
        if let Some(services) = &self.services {
            write!(f, "{services}")?;
        }
        self.outside_checked(f)?;
        for violation in &self.violations {
            writeln!(f, "VIOLATION {violation}")?;
        }
        match &self.trace_hash {
            Some(hash) => writeln!(f, "trace {hash}"),
            None => Ok(()),
        }
    }
}

impl Summary {
    /// Writes the unvalidated mechanisms, and the router profile unless it is the default.
    fn outside_checked(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.router_profile != "undertone" {
            writeln!(f, "router profile {}", self.router_profile)?;
        }
        for outside in &self.validity {
            writeln!(f, "NOT CHECKED ({}): {}", outside.rule, outside.says)?;
        }
        Ok(())
    }

    fn head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}, seed {}, commit {}: {} nodes, {} messages, {} of {} deliveries",
            self.scenario,
            self.seed,
            self.commit,
            self.nodes,
            self.per_message.len(),
            self.delivered,
            self.expected
        )?;
        if let Some(resolved) = &self.resolved {
            let set = resolved.overrides();
            if !set.is_empty() {
                writeln!(f, "with {}", set.join(" "))?;
            }
        }
        let measured = &self.measured;
        write!(
            f,
            "{:.1} s of virtual time in {:.2} s ({:.2} s of processor time), {} events",
            self.virtual_s, measured.wall_s, measured.cpu_s, self.events
        )?;
        match measured.peak_rss_mb {
            Some(megabytes) => writeln!(f, ", {megabytes:.0} MB at most"),
            None => writeln!(f),
        }
    }

    fn hops(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: u64 = self.hops.values().sum();
        if all == 0 {
            return Ok(());
        }
        writeln!(f, "\nhops, per message")?;
        let messages = self.counted_messages().max(1) as f64;
        for (hops, count) in &self.hops {
            let share = *count as f64 / all as f64;
            let line = format!("{hops:>9} {}", bar(share));
            let nodes = *count as f64 / messages;
            writeln!(f, "{line} {nodes:.1} ({:.1} %)", share * 100.0)?;
        }
        Ok(())
    }

    fn traffic(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mesh = &self.mesh_degree;
        writeln!(
            f,
            "\nmesh degree {} to {}, mean {:.2}",
            mesh.min, mesh.max, mesh.mean
        )?;
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let bytes = &self.bytes;
        write!(
            f,
            "sent {:.1} MB of messages, {:.1} MB of control, {:.1} MB on the wire",
            megabytes(bytes.payload),
            megabytes(bytes.control),
            megabytes(bytes.wire)
        )?;
        match bytes.copies_per_delivery {
            Some(copies) => writeln!(f, "; {copies:.2} copies per delivery"),
            None => writeln!(f),
        }
    }
}

impl Display for Campaign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [run] = self.runs() else {
            return self.several(f);
        };
        write!(f, "{run}")?;
        writeln!(f, "one seed: how much seeds differ is not known")
    }
}

impl Campaign {
    fn several(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.runs();
        if let Some(last) = runs.last() {
            last.head(f)?;
        }
        let mut rows: Vec<_> = runs
            .iter()
            .map(|run| (format!("seed {}", run.seed), run.latency_ms))
            .collect();
        let median = self.median();
        rows.push((format!("median of {}", runs.len()), median.latency_ms));
        writeln!(f, "\nlatency, ms\n{}", latency_table("", &rows))?;
        writeln!(f, "\nhops, per message, median over seeds")?;
        for (hops, nodes) in &median.hops_per_message {
            writeln!(f, "{hops:>9} {nodes:.1}")?;
        }
        let seed = |run: &Summary| format!("seed {}", run.seed);
        let groups: Vec<_> = runs.iter().map(|run| (seed(run), run)).collect();
        let attacks = runs.iter().map(|run| (seed(run), slice::from_ref(run)));
        let median = (format!("median of {}", runs.len()), runs);
        let attacks: Vec<_> = attacks.chain([median]).collect();
        let tables = [group_table(&groups), attack_table(&attacks)];
        for table in tables.into_iter().flatten() {
            writeln!(f, "\n{}\n{}", table.title, table.drawn())?;
        }
        if let Some(last) = runs.last() {
            last.outside_checked(f)?;
        }
        for run in runs {
            for violation in &run.violations {
                writeln!(f, "VIOLATION seed {}: {violation}", run.seed)?;
            }
        }
        Ok(())
    }
}

/// A table with a named row for each distribution.
pub(crate) fn latency_table(name: &str, rows: &[(String, Option<Latency>)]) -> Table {
    let header = [name, "n", "min", "mean", "p50", "p75", "p95", "p99", "max"];
    let mut table = new_table(&header);
    for (name, latency) in rows {
        let mut cells = vec![name.clone()];
        if let Some(l) = latency {
            cells.push(l.n.to_string());
            let values = [l.min, l.mean, l.p50, l.p75, l.p95, l.p99, l.max];
            cells.extend(values.map(|ms| format!("{ms:.1}")));
        } else {
            cells.push("0".to_owned());
        }
        table.add_row(cells);
    }
    align(&mut table);
    table
}

/// A table with a header and no rows. It is no wider than the terminal; long cells wrap.
pub(crate) fn new_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(UTF8_BORDERS_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header.iter().copied());
    table
}

/// Aligns the first column, of names, to the left and the others to the right.
pub(crate) fn align(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}
