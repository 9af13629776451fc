//! Figures of services for the terminal.

use std::fmt::{self, Display};

use super::services::{RequestFigures, ServicesSummary};
use super::text::latency_table;

impl Display for ServicesSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n{} light clients of {} service nodes: {} of {} deliveries, {} lost",
            self.light_clients,
            self.service_nodes,
            self.expected.saturating_sub(self.lost),
            self.expected,
            self.lost
        )?;
        let ways = &self.ways;
        let rows = [
            ("to light clients", self.latency_ms),
            ("relay to relay", ways.relay_to_relay_ms),
            ("relay to light client", ways.relay_to_light_ms),
            ("light client to relay", ways.light_to_relay_ms),
            ("light to light client", ways.light_to_light_ms),
            ("from a store", self.from_store.latency_ms),
        ];
        let shown = rows.into_iter().filter(|(_, latency)| latency.is_some());
        let rows: Vec<_> = shown.map(|(name, l)| (name.to_owned(), l)).collect();
        if !rows.is_empty() {
            writeln!(f, "latency, ms\n{}", latency_table("", &rows))?;
        }
        let bytes = &self.bytes_per_message;
        writeln!(
            f,
            "bytes per message, sent and received: {:.0} of a light client, {:.0} of a relay, {:.0} of a \
             service node ({:.0} for clients)",
            bytes.light_client, bytes.relay, bytes.service_node, bytes.service_node_for_clients
        )?;
        write_requests(f, "requests", &self.requests)?;
        if let Some(flood) = &self.flood {
            write_requests(f, "requests of the flood", flood)?;
        }
        let sends = &self.sends;
        if sends.taken > 0 {
            writeln!(
                f,
                "sent by light clients: {}; {} stored, {} propagated, {} failed, {} open",
                sends.taken, sends.stored, sends.propagated, sends.failed, sends.open
            )?;
        }
        if let Some(read) = &self.readings {
            writeln!(
                f,
                "history read {} times: {} messages on {} pages, {:.0} ms a page",
                read.readings, read.messages, read.pages, read.page_ms
            )?;
        }
        if let Some(stores) = &self.stores {
            write!(
                f,
                "stores: {} to {} messages each",
                stores.fewest, stores.most
            )?;
            match stores.sessions {
                0 => writeln!(f)?,
                sessions => writeln!(
                    f,
                    "; {sessions} sessions, in which {} messages came from another store ({:.0} kB between stores)",
                    stores.received,
                    stores.sent_bytes as f64 / 1e3
                )?,
            }
        }
        let peers = &self.peers;
        if peers.found + peers.other_clusters > 0 {
            writeln!(
                f,
                "{} service nodes found by peer exchange, {} connections left because of another cluster",
                peers.found, peers.other_clusters
            )?;
        }
        if let Some(channel) = &self.channel {
            writeln!(
                f,
                "channel: {} messages acknowledged, {} sent again, {} repaired for others, {} lost, {} delivered with \
                 gaps; {} sync messages",
                channel.acknowledged,
                channel.resent,
                channel.repaired,
                channel.lost,
                channel.with_gaps,
                channel.syncs
            )?;
        }
        let troubles = &self.troubles;
        let of_clients = [
            troubles.connections_lost,
            troubles.streams_broken,
            troubles.sleeps,
            troubles.offences_noticed,
        ];
        if of_clients.iter().any(|count| *count > 0) {
            writeln!(
                f,
                "{} connections lost, {} streams broken, {} sleeps, {} offences noticed",
                of_clients[0], of_clients[1], of_clients[2], of_clients[3]
            )?;
        }
        Ok(())
    }
}

fn write_requests(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    requests: &RequestFigures,
) -> fmt::Result {
    write!(f, "{what}, answered / refused / made:")?;
    for (at, service) in ["store", "filter", "lightpush"].into_iter().enumerate() {
        let (answered, refused) = (requests.answered[at], requests.refused[at]);
        write!(
            f,
            " {service} {answered} / {refused} / {}",
            requests.made[at]
        )?;
        f.write_str(if at < 2 { "," } else { "\n" })?;
    }
    Ok(())
}
