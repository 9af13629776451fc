//! `undertone doctor`: examines the machine for a node and gives advice.

use std::fmt;

use serde::Serialize;
use undertone_contracts::{Membership, reader};
use undertone_membership::evm::without_credentials;
use undertone_node::config::NodeConfig;
use undertone_node::doctor::{CheckOutcome, Diagnosis, NtpServer, examine};

use super::{Failure, node, output};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Time server to compare the clock with; `none` for no comparison
    #[arg(long, value_name = "HOST:PORT", default_value = "pool.ntp.org:123")]
    ntp_server: String,
    #[command(flatten)]
    node: node::Args,
}

#[derive(Serialize)]
struct Examined {
    findings: Vec<Diagnosis>,
}

/// Examines the machine; fails if a check has a bad outcome.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let config = args.node.load()?;
    let ntp = (args.ntp_server != "none").then(|| NtpServer(args.ntp_server.clone()));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let findings = runtime.block_on(async {
        let mut findings = examine(&config, ntp).await;
        findings.extend(chain(&config).await);
        findings
    });
    let examined = Examined { findings };
    output::print(&examined, args.node.json())?;
    let bad = examined.findings.iter();
    let bad = bad
        .filter(|finding| finding.verdict == CheckOutcome::Bad)
        .count();
    match bad {
        0 => Ok(()),
        one_or_more => Err(Failure::new(format!(
            "{one_or_more} of {} findings are bad: the node would not start, or not work",
            examined.findings.len()
        ))),
    }
}

/// Asks every endpoint of the chain for its chain id and for the contract.
async fn chain(config: &NodeConfig) -> Vec<Diagnosis> {
    let chain = config.rln.as_ref().and_then(|rln| rln.chain.as_ref());
    let Some(chain) = chain else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for url in &chain.urls {
        findings.push(endpoint(url, chain.contract.chain_id, chain.contract.address).await);
    }
    findings
}

async fn endpoint(url: &str, expected: u64, contract: undertone_contracts::Address) -> Diagnosis {
    let subject = "rln-eth-rpc";
    let name = without_credentials(url);
    let failed =
        |says: String, remedy: &str| Diagnosis::other(subject, CheckOutcome::Bad, says, remedy);
    let provider = match reader(url) {
        Ok(provider) => provider,
        Err(error) => return failed(format!("{name}: {error}"), "check the URL"),
    };
    let membership = Membership::new(provider, contract);
    match membership.chain_id().await {
        Ok(found) if found != expected => failed(
            format!("{name} is of chain {found}, and the contract is on chain {expected}"),
            "name an endpoint of that chain, or correct rln-eth-chain-id",
        ),
        Ok(found) => match membership.has_code().await {
            Ok(true) => Diagnosis::good(subject, format!("{name}: chain {found}, contract found")),
            Ok(false) => failed(
                format!("{name}: there is no contract at {contract}"),
                "check rln-eth-contract",
            ),
            Err(error) => failed(format!("{name}: {error}"), "try another endpoint"),
        },
        Err(error) => failed(
            format!("{name} does not answer: {error}"),
            "check the URL and the network, or name another endpoint",
        ),
    }
}

impl fmt::Display for Examined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subjects = self.findings.iter().map(|finding| finding.subject.len());
        let width = subjects.max().unwrap_or_default();
        for finding in &self.findings {
            let Diagnosis {
                subject,
                verdict,
                says,
                remedy,
            } = finding;
            writeln!(f, "{verdict:11}  {subject:width$}  {says}")?;
            if let Some(remedy) = remedy {
                writeln!(f, "{:11}  {:width$}  -> {remedy}", "", "")?;
            }
        }
        Ok(())
    }
}
