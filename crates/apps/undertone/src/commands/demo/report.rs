//! The demo's results as tables.

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, Table};
use undertone_fleet::demo::{DemoReport, Slashing};

use super::published;

/// Results of the demo, as tables.
pub(super) struct DemoTables<'a>(pub(super) &'a DemoReport);

impl DemoTables<'_> {
    /// Prints the tables.
    pub(super) fn print(&self) {
        let report = self.0;
        println!(
            "{} nodes in a line, RLN on, ready after {:.0} ms\n",
            report.nodes, report.startup_ms
        );
        println!("Latency, ms (median). Lg: proof generation; Lt, Lv: transmission and validation");
        println!("per hop. Below each: the paper's five cities (Table 3), for the shape of it.");
        println!("{}", self.latency_table());
        self.print_proofs();
        let limit = report.spam.limit;
        println!(
            "Spam: a sixth member, limit {limit} per epoch, published {}",
            report.spam.attempted
        );
        println!("{}", self.spam_table());
        if let Some(chain) = &report.chain {
            println!("Chain: its membership in contract {}", chain.contract);
            println!("{}", chain_table(chain));
        }
    }

    /// Prints proof times with and without tokens: a token only moves work ahead of the message.
    fn print_proofs(&self) {
        let with_token: u32 = self.0.latency.iter().map(|row| row.with_token).sum();
        let messages: u32 = self.0.latency.iter().map(|row| row.runs).sum();
        println!(
            "Lg: {with_token} of {messages} messages found a token ready, prepared before the \
             message in {} ms on the clock, at the lowest priority.",
            ms(self.0.token_prepare_ms)
        );
        println!(
            "Without one a proof takes {} ms (median of {}).\n",
            ms(self.0.without_tokens.prove_ms),
            self.0.without_tokens.runs
        );
    }

    fn latency_table(&self) -> Table {
        let mut table = table(&[
            "kB", "", "Lg", "Lt", "Lv", "Lt", "Lv", "Lt", "Lv", "Lt", "Lv", "total", "got",
        ]);
        for row in &self.0.latency {
            let size_kb = row.size_bytes / 1000;
            let mut ours = vec![size_kb.to_string(), "here".into(), ms(row.prove_ms)];
            for hop in &row.hops {
                ours.extend([ms(hop.transmit_ms), ms(hop.validate_ms)]);
            }
            ours.extend([
                ms(row.total_ms),
                format!("{}/{}", row.delivered, row.expected),
            ]);
            table.add_row(ours);
            if let Some(paper) = published::row(size_kb) {
                let mut cells = vec![String::new(), "paper".into(), whole(paper.prove)];
                for (transmit, validate) in paper.hops {
                    cells.extend([whole(transmit), whole(validate)]);
                }
                cells.extend([whole(paper.total), String::new()]);
                table.add_row(cells);
            }
        }
        align_right(&mut table);
        table
    }

    fn spam_table(&self) -> Table {
        let spam = &self.0.spam;
        let mut table = table(&["what", "result"]);
        let reached = format!("{} of {}", spam.delivered, spam.attempted);
        table.add_row(["messages that reached every node".to_owned(), reached]);
        for (node, after_ms) in &spam.disconnected_by {
            let what = format!("node {} disconnected it after", node + 1);
            table.add_row([what, format!("{after_ms:.0} ms")]);
        }
        table.add_row([
            "peers it has left".to_owned(),
            spam.spammer_peers_left.to_string(),
        ]);
        let isolated = spam
            .isolated_after_ms
            .map_or("never".into(), |ms| format!("{ms:.0} ms"));
        table.add_row([
            "isolated after its first message too many".to_owned(),
            isolated,
        ]);
        let secret = if spam.secret_recovered { "yes" } else { "no" };
        table.add_row(["its secret recovered, equal to its identity's", secret]);
        table
    }
}

fn chain_table(chain: &Slashing) -> Table {
    let mut table = table(&["what", "result"]);
    let rows = [
        ("its deposit, 10^-18 tokens", chain.deposit.clone()),
        ("burned of it", chain.burned.clone()),
        ("reward of the first node's account", chain.reward.clone()),
        (
            "to be claimed from, Unix time",
            chain.reward_from_s.to_string(),
        ),
        ("committed by transaction", chain.committed.to_string()),
        ("slashed by transaction", chain.transaction.to_string()),
        ("leaf that is empty now", chain.index.to_string()),
        ("members before", chain.members_before.to_string()),
        ("members after", chain.members_after.to_string()),
        (
            "nodes whose tree is without it",
            chain.nodes_updated.to_string(),
        ),
        ("root, the contract's and theirs", chain.root.clone()),
    ];
    for (what, result) in rows {
        table.add_row([what.to_owned(), result]);
    }
    table
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(UTF8_BORDERS_ONLY)
        .set_header(header.iter().copied());
    table
}

fn align_right(table: &mut Table) {
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
        column.set_padding((0, 1));
    }
}

fn ms(value: f64) -> String {
    if value < 10.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.0}")
    }
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}
