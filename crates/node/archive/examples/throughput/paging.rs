//! All messages page by page, to the end, in both directions.

use std::time::Instant;

use undertone_archive::Archive;
use undertone_message::{MessageHash, message_hash};
use undertone_services::history::PageDirection;

use crate::{Failure, load, report};

/// Reads everything in both directions.
///
/// # Errors
///
/// A message is missing, comes twice, is out of order, or is not what was inserted.
pub(crate) async fn to_the_end(archive: &Archive, count: u64) -> Result<(), Failure> {
    for direction in [PageDirection::Forward, PageDirection::Backward] {
        let mut query = load::everything(direction);
        let mut last: Option<(i64, MessageHash)> = None;
        let mut seen = 0;
        let mut times = Vec::new();
        let began = Instant::now();
        loop {
            let asked = Instant::now();
            let mut page = archive.query(query.clone()).await?;
            times.push(asked.elapsed());
            if direction == PageDirection::Backward {
                page.entries.reverse();
            }
            for entry in &page.entries {
                let data = entry.data.as_ref().ok_or("an entry has no data")?;
                if message_hash(&data.pubsub_topic, &data.message) != entry.hash {
                    return Err(format!("{} is not the message that was kept", entry.hash).into());
                }
                let order = (data.message.timestamp_ns(), entry.hash);
                // Order without equals is also that none comes twice.
                let follows = last.is_none_or(|last| match direction {
                    PageDirection::Forward => last < order,
                    PageDirection::Backward => last > order,
                });
                if !follows {
                    return Err(format!("{} is out of order, or came twice", entry.hash).into());
                }
                last = Some(order);
                seen += 1;
            }
            query.cursor = page.next;
            if query.cursor.is_none() {
                break;
            }
        }
        if seen != count {
            return Err(format!("{seen} of {count} messages were served").into());
        }
        println!(
            "paged to the end, {direction:?}: {seen} messages in {:.0} s, each once, in order; pages of 100: {}",
            began.elapsed().as_secs_f64(),
            report::percentiles(times)
        );
    }
    Ok(())
}
