//! Own messages of a session, those of the previous run included, and their states.

use std::io;

use rand_core::CryptoRng;
use undertone_node::services::{SendNews, SendReport, WaitingMessage};

use super::{ChatSession, Front, NS_PER_S, QueueAnswer, SessionFault, timeless};
use crate::own_messages::OwnState;

impl<F: Front, R: CryptoRng> ChatSession<F, R> {
    /// Shows the messages of the previous run that are still queued; mentions those of other rooms.
    pub(super) fn resume(&mut self, waiting: &[WaitingMessage]) -> io::Result<()> {
        let mut others = 0;
        for own in waiting {
            if !self.room.carries(&own.pubsub_topic, &own.message) {
                others += 1;
                continue;
            }
            self.written
                .insert(timeless(&own.pubsub_topic, &own.message));
            let text = match self.room.read(&own.message) {
                _ if own.is_in_fragments => "(a long message)".to_owned(),
                Ok(read) => String::from_utf8_lossy(&read.text).into_owned(),
                Err(reason) => format!("(cannot be read: {reason})"),
            };
            let state = OwnState::at(own.step, own.hash);
            let number = self.own.resume(own.id, state.clone());
            self.show_own(number, Some(text), state)?;
        }
        match others {
            0 => Ok(()),
            1 => self.note("a message of another room is still being sent".to_owned()),
            _ => self.note(format!(
                "{others} messages of other rooms are still being sent"
            )),
        }
    }

    /// Handles the queue's answer to an own message.
    pub(super) fn answered(&mut self, outcome: QueueAnswer) -> io::Result<()> {
        let answer = outcome.answer.map_err(|failure| failure.to_string());
        match self.own.answered(outcome.number, answer) {
            Some(state) => self.changed(outcome.number, state),
            None => Ok(()),
        }
    }

    /// Reports that a message was not queued.
    pub(super) fn refused(&mut self, number: u64, reason: String) -> io::Result<()> {
        match self.own.answered(number, Err(reason)) {
            Some(state) => self.changed(number, state),
            None => Ok(()),
        }
    }

    /// Handles reports on sent messages.
    pub(super) async fn learn(&mut self, news: SendNews) -> Result<(), SessionFault> {
        match news {
            SendNews::Report(report) => self.reported(&report)?,
            SendNews::Missed { .. } => {
                for id in self.own.followed() {
                    // If the node has stopped, the deliveries report it.
                    let reports = self.sender.reports(Some(id)).await.unwrap_or_default();
                    for report in &reports {
                        self.reported(report)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn reported(&mut self, report: &SendReport) -> io::Result<()> {
        let Some((number, state)) = self.own.reported(report) else {
            return Ok(());
        };
        if report.step.is_end() {
            // Remove the report: nobody else fetches it, and the queue would keep it.
            let (sender, id) = (self.sender.clone(), report.id);
            tokio::spawn(async move { drop(sender.fetch_reports(Some(id)).await) });
        }
        self.changed(number, state)
    }

    /// Shows the new state of an own message, and counts it if it has used a proof.
    fn changed(&mut self, number: u64, state: OwnState) -> io::Result<()> {
        let now_s = self.now_ns() / NS_PER_S;
        if let (Some(budget), OwnState::Sent { .. }) = (&mut self.budget, &state) {
            budget.spend(now_s);
        }
        self.show_own(number, None, state)
    }
}
