//! Account that signs and sends transactions, waits for them, and finds the reason if one was refused.

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
use crate::transport;

/// Timeout of one request.
const REQUEST_PATIENCE: Duration = Duration::from_secs(30);
/// Default time to wait for a transaction: many blocks of any chain.
const MINING_PATIENCE: Duration = Duration::from_secs(120);
/// First pause between two requests for a receipt; each pause is twice the one before,
/// up to [`LAST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LAST_PAUSE: Duration = Duration::from_secs(2);

/// Account: a key and an endpoint. Send one transaction at a time: two concurrent ones from the same account,
/// by this or another program, may get the same nonce.
#[derive(Debug, Clone)]
pub struct Account {
    provider: DynProvider,
    address: Address,
    mining_patience: Duration,
    gas_limit: Option<u64>,
}

/// A transaction that is in a block and succeeded.
#[derive(Debug, Clone)]
pub struct Mined {
    /// Hash of the transaction.
    pub hash: TxHash,
    /// Number of the transaction's block.
    pub block: u64,
    /// Gas used by the transaction.
    pub gas_used: u64,
    /// Address of the contract that was created, if any.
    pub contract: Option<Address>,
    /// Logs that the transaction emitted.
    pub logs: Vec<Log>,
}

impl Account {
    /// Creates an account at an endpoint, without contacting it yet.
    ///
    /// # Errors
    /// [`ChainError::Endpoint`] when `endpoint` is not `http://..` or `https://..`.
    pub fn connect(endpoint: &str, key: PrivateKeySigner) -> Result<Self, ChainError> {
        let address = key.address();
        // The nonce is requested each time: a cached one would have a gap after any failure.
        let provider = ProviderBuilder::new()
            .disable_recommended_fillers()
            .with_gas_estimation()
            .with_simple_nonce_management()
            .fetch_chain_id()
            .wallet(key)
            .connect_client(transport::client(endpoint)?)
            .erased();
        Ok(Self {
            provider,
            address,
            mining_patience: MINING_PATIENCE,
            gas_limit: None,
        })
    }

    /// Returns the same account, with another time to wait for a transaction.
    #[must_use]
    pub fn with_mining_patience(mut self, patience: Duration) -> Self {
        self.mining_patience = patience;
        self
    }

    /// Returns the same account, with a fixed gas limit for all transactions instead of an estimate
    /// for each: even a transaction that must fail is sent.
    #[must_use]
    pub fn with_gas_limit(mut self, gas: u64) -> Self {
        self.gas_limit = Some(gas);
        self
    }

    /// Returns the account's address.
    #[must_use]
    pub fn address(&self) -> Address {
        self.address
    }

    /// Returns the provider, for requests not offered here.
    #[must_use]
    pub fn provider(&self) -> &DynProvider {
        &self.provider
    }

    /// Calls a contract and waits until the call is in a block.
    ///
    /// # Errors
    /// [`ChainError::Refused`] with the contract's reason, before anything is sent if the reason is already
    /// known; [`ChainError::NotMined`] when the transaction takes too long; [`ChainError::Failed`] when it
    /// fails without a known reason; [`ChainError::Rpc`] when a request fails.
    pub async fn call(&self, contract: Address, input: Vec<u8>) -> Result<Mined, ChainError> {
        let request = TransactionRequest::default()
            .with_to(contract)
            .with_input(Bytes::from(input));
        self.send(request).await
    }

    /// Simulates a call at the newest block, without sending it.
    ///
    /// # Errors
    /// [`ChainError::Refused`] with the contract's reason, or [`ChainError::Rpc`].
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
    /// The errors of [`Account::call`].
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
                // Transactions of others may raise the required gas meanwhile: an insertion hashes up to 20
                // levels.
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

    /// Finds the reason why a transaction failed, by a call with the same input at its block, because the
    /// block's time and number matter. A failed transaction changed no state, so the call fails too, unless
    /// other transactions of that block interfere.
    async fn reason(&self, hash: TxHash, block: u64, request: TransactionRequest) -> ChainError {
        let again = self.provider.call(request);
        match asked("eth_call", again.block(block.into())).await {
            Err(refused @ ChainError::Refused(_)) => refused,
            _ => ChainError::Failed { hash, block },
        }
    }
}

/// Creates a provider that only reads.
///
/// # Errors
/// [`ChainError::Endpoint`] when `endpoint` is not `http://..` or `https://..`.
pub fn reader(endpoint: &str) -> Result<DynProvider, ChainError> {
    let builder = ProviderBuilder::new().disable_recommended_fillers();
    Ok(builder
        .connect_client(transport::client(endpoint)?)
        .erased())
}

/// Waits for the endpoint's answer, for at most [`REQUEST_PATIENCE`].
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
