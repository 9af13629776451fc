//! Who signs: sends transactions, waits for them, learns why they were refused.

use std::future::Future;
use std::time::Duration;

use alloy::network::{ReceiptResponse, TransactionBuilder};
use alloy::primitives::{Address, Bytes, TxHash};
use alloy::providers::{DynProvider, Provider, ProviderBuilder};
use alloy::rpc::types::{Log, TransactionRequest};
use alloy::signers::local::PrivateKeySigner;
use alloy::transports::{TransportError, TransportErrorKind};
use tokio::time::{Instant, sleep, timeout};

use crate::error::ChainError;
use crate::refusal::Refusal;

/// How long one request may take.
const REQUEST_PATIENCE: Duration = Duration::from_secs(30);
/// How long a transaction is waited for, unless told otherwise: many blocks of any chain.
const MINING_PATIENCE: Duration = Duration::from_secs(120);
/// The first pause between two looks at a receipt; each is twice the one before, up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LAST_PAUSE: Duration = Duration::from_secs(2);

/// A key and an endpoint. Transactions are sent one at a time: two at once from one account, by
/// this or another program, may take the same nonce.
#[derive(Debug, Clone)]
pub struct Account {
    provider: DynProvider,
    address: Address,
    mining_patience: Duration,
    gas_limit: Option<u64>,
}

/// A transaction that is in a block and did not fail.
#[derive(Debug, Clone)]
pub struct Mined {
    /// The transaction.
    pub hash: TxHash,
    /// Number of the block.
    pub block: u64,
    /// Gas that it took.
    pub gas_used: u64,
    /// The contract that it made, if it made one.
    pub contract: Option<Address>,
    /// What it reported.
    pub logs: Vec<Log>,
}

impl Account {
    /// An account at an endpoint; nothing is asked of it yet.
    ///
    /// # Errors
    /// [`ChainError::Endpoint`] when `endpoint` is not `http://..` or `https://..`.
    pub fn connect(endpoint: &str, key: PrivateKeySigner) -> Result<Self, ChainError> {
        let address = key.address();
        // The nonce is asked for each time: one kept here would have a gap after any failure.
        let provider = ProviderBuilder::new()
            .disable_recommended_fillers()
            .with_gas_estimation()
            .with_simple_nonce_management()
            .fetch_chain_id()
            .wallet(key)
            .connect_http(http(endpoint)?.parse().map_err(|_| ChainError::Endpoint)?)
            .erased();
        Ok(Self {
            provider,
            address,
            mining_patience: MINING_PATIENCE,
            gas_limit: None,
        })
    }

    /// The same account, with another time to wait for a transaction.
    #[must_use]
    pub fn with_mining_patience(mut self, patience: Duration) -> Self {
        self.mining_patience = patience;
        self
    }

    /// The same account, with a gas limit for all transactions instead of an estimate for each: what
    /// is bound to fail is sent nonetheless.
    #[must_use]
    pub fn with_gas_limit(mut self, gas: u64) -> Self {
        self.gas_limit = Some(gas);
        self
    }

    /// The account's address.
    #[must_use]
    pub fn address(&self) -> Address {
        self.address
    }

    /// The endpoint, for what is not offered here.
    #[must_use]
    pub fn provider(&self) -> &DynProvider {
        &self.provider
    }

    /// Calls a contract and waits until the call is in a block.
    ///
    /// # Errors
    /// [`ChainError::Refused`] with the contract's reason, before anything is sent if it is known
    /// by then; [`ChainError::NotMined`] when it takes too long.
    pub async fn call(&self, contract: Address, input: Vec<u8>) -> Result<Mined, ChainError> {
        let request = TransactionRequest::default()
            .with_to(contract)
            .with_input(Bytes::from(input));
        self.send(request).await
    }

    /// What would come of a call at the newest block; nothing is sent.
    ///
    /// # Errors
    /// [`ChainError::Refused`] with the contract's reason.
    pub async fn rehearse(&self, contract: Address, input: &[u8]) -> Result<(), ChainError> {
        let request = TransactionRequest::default()
            .with_from(self.address)
            .with_to(contract)
            .with_input(Bytes::copy_from_slice(input));
        asked("eth_call", self.provider.call(request)).await?;
        Ok(())
    }

    /// Deploys a contract; its address is in [`Mined::contract`].
    ///
    /// # Errors
    /// As [`Account::call`].
    pub async fn create(&self, code: Bytes) -> Result<Mined, ChainError> {
        self.send(TransactionRequest::default().with_deploy_code(code))
            .await
    }

    async fn send(&self, request: TransactionRequest) -> Result<Mined, ChainError> {
        let request = request.with_from(self.address);
        let gas_limit = match self.gas_limit {
            Some(gas_limit) => gas_limit,
            None => {
                let estimate = self.provider.estimate_gas(request.clone());
                let gas = asked("eth_estimateGas", estimate).await?;
                // What others do in between may make it dearer: an insertion hashes up to 20 levels.
                gas.saturating_add(gas / 4)
            }
        };
        let request = request.with_gas_limit(gas_limit);
        let sent = self.provider.send_transaction(request.clone());
        let sent = asked("eth_sendRawTransaction", sent).await?;
        self.wait(*sent.tx_hash(), request).await
    }

    async fn wait(&self, hash: TxHash, request: TransactionRequest) -> Result<Mined, ChainError> {
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        let receipt = loop {
            let receipt = self.provider.get_transaction_receipt(hash);
            if let Some(receipt) = asked("eth_getTransactionReceipt", receipt).await? {
                break receipt;
            }
            if began.elapsed() + pause > self.mining_patience {
                let waited = self.mining_patience;
                return Err(ChainError::NotMined { hash, waited });
            }
            sleep(pause).await;
            pause = LAST_PAUSE.min(2 * pause);
        };
        let block = receipt.block_number.unwrap_or_default();
        if !receipt.status() {
            return Err(self.reason(hash, block, request).await);
        }
        Ok(Mined {
            hash,
            block,
            gas_used: receipt.gas_used,
            contract: receipt.contract_address(),
            logs: receipt.inner.logs().to_vec(),
        })
    }

    /// Why a transaction failed: what the same call gives at its block, whose time and number count.
    /// What failed has changed nothing, so it fails again, unless others in that block got in its way.
    async fn reason(&self, hash: TxHash, block: u64, request: TransactionRequest) -> ChainError {
        let again = self.provider.call(request);
        match asked("eth_call", again.block(block.into())).await {
            Err(refused @ ChainError::Refused(_)) => refused,
            _ => ChainError::Failed { hash, block },
        }
    }
}

/// A provider that only reads.
///
/// # Errors
/// [`ChainError::Endpoint`] when `endpoint` is not `http://..` or `https://..`.
pub fn reader(endpoint: &str) -> Result<DynProvider, ChainError> {
    let url = http(endpoint)?.parse().map_err(|_| ChainError::Endpoint)?;
    let builder = ProviderBuilder::new().disable_recommended_fillers();
    Ok(builder.connect_http(url).erased())
}

/// What the endpoint answered, within bounded time.
pub(crate) async fn asked<T>(
    method: &'static str,
    request: impl IntoFuture<Output = Result<T, TransportError>, IntoFuture: Future>,
) -> Result<T, ChainError> {
    let answer = timeout(REQUEST_PATIENCE, request.into_future()).await;
    let answer =
        answer.unwrap_or_else(|_| Err(TransportErrorKind::custom_str("no answer in 30 s")));
    answer.map_err(|error| {
        let data = error.as_error_resp().and_then(|e| e.as_revert_data());
        match data {
            Some(data) => ChainError::Refused(Refusal::decode(&data)),
            None => ChainError::Rpc {
                method,
                source: Box::new(error),
            },
        }
    })
}

fn http(endpoint: &str) -> Result<&str, ChainError> {
    let known = ["http://", "https://"];
    match known.iter().any(|scheme| endpoint.starts_with(scheme)) {
        true => Ok(endpoint),
        false => Err(ChainError::Endpoint),
    }
}
