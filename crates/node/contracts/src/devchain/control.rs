//! Operations that only a development chain allows, on time, blocks and history.

use alloy::providers::Provider;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::DevChain;
use crate::account::asked;
use crate::error::ChainError;

impl DevChain {
    /// Sends a JSON-RPC request that has no function of its own here.
    ///
    /// # Errors
    /// [`ChainError::Rpc`] when the chain does not understand the request.
    pub async fn request<R: DeserializeOwned + Send + Sync + Unpin + std::fmt::Debug + 'static>(
        &self,
        method: &'static str,
        params: impl Serialize,
    ) -> Result<R, ChainError> {
        let params = serde_json::to_value(params).unwrap_or(Value::Null);
        asked(method, self.provider.raw_request(method.into(), params)).await
    }

    /// Advances the chain's time by `seconds` and mines a block.
    ///
    /// # Errors
    /// [`ChainError::Rpc`] when the request fails.
    pub async fn advance(&self, seconds: u64) -> Result<(), ChainError> {
        self.request::<Value>("evm_increaseTime", [seconds]).await?;
        self.mine(1).await
    }

    /// Mines `blocks` blocks; pending transactions go into the first.
    ///
    /// # Errors
    /// [`ChainError::Rpc`] when the request fails.
    pub async fn mine(&self, blocks: u64) -> Result<(), ChainError> {
        let blocks = format!("{blocks:#x}");
        self.request::<Value>("anvil_mine", [blocks]).await?;
        Ok(())
    }

    /// Sets whether each transaction is mined at once or waits for [`DevChain::mine`].
    ///
    /// # Errors
    /// [`ChainError::Rpc`] when the request fails.
    pub async fn set_automine(&self, on: bool) -> Result<(), ChainError> {
        self.request::<Value>("evm_setAutomine", [on]).await?;
        Ok(())
    }

    /// Replaces the newest `depth` blocks by the same number of empty blocks.
    ///
    /// # Errors
    /// [`ChainError::Rpc`] when the request fails.
    pub async fn reorganise(&self, depth: u64) -> Result<(), ChainError> {
        let none: [Value; 0] = [];
        self.request::<Value>("anvil_reorg", (depth, none)).await?;
        Ok(())
    }
}
