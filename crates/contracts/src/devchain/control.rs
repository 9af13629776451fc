//! What can be done to a chain of one's own and to no other: time, blocks, history.

use alloy::providers::Provider;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::DevChain;
use crate::account::asked;
use crate::error::ChainError;

impl DevChain {
    /// Sends a request that has no function here.
    ///
    /// # Errors
    /// [`ChainError::Rpc`] when the chain does not understand it.
    pub async fn request<R: DeserializeOwned + Send + Sync + Unpin + std::fmt::Debug + 'static>(
        &self,
        method: &'static str,
        params: impl Serialize,
    ) -> Result<R, ChainError> {
        let params = serde_json::to_value(params).unwrap_or(Value::Null);
        asked(method, self.provider.raw_request(method.into(), params)).await
    }

    /// Lets `seconds` pass, and puts them into a new block.
    ///
    /// # Errors
    /// [`ChainError`].
    pub async fn advance(&self, seconds: u64) -> Result<(), ChainError> {
        self.request::<Value>("evm_increaseTime", [seconds]).await?;
        self.mine(1).await
    }

    /// Makes empty blocks, or one block with all that waits and then empty ones.
    ///
    /// # Errors
    /// [`ChainError`].
    pub async fn mine(&self, blocks: u64) -> Result<(), ChainError> {
        let blocks = format!("{blocks:#x}");
        self.request::<Value>("anvil_mine", [blocks]).await?;
        Ok(())
    }

    /// Whether each transaction gets a block at once, or waits for [`DevChain::mine`].
    ///
    /// # Errors
    /// [`ChainError`].
    pub async fn set_automine(&self, on: bool) -> Result<(), ChainError> {
        self.request::<Value>("evm_setAutomine", [on]).await?;
        Ok(())
    }

    /// Replaces the newest `depth` blocks by as many empty ones.
    ///
    /// # Errors
    /// [`ChainError`].
    pub async fn reorganise(&self, depth: u64) -> Result<(), ChainError> {
        let none: [Value; 0] = [];
        self.request::<Value>("anvil_reorg", (depth, none)).await?;
        Ok(())
    }
}
