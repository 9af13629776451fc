//! Deploys a contract with many members on a development chain, for tests and measurements.

use alloy::sol_types::SolCall;
use serde_json::{Value, json};

use crate::abi::{RlnMembership, TestToken};
use crate::{Address, ChainError, ContractTerms, DevChain, U256, deploy};

/// Number of registrations per block, limited by the block's gas.
const IN_BLOCK: u64 = 20;
/// Gas limit of one registration, enough for a tree of any size.
const GAS: &str = "0x16e360";
/// Balance in wei that is enough for any number of registrations.
const PLENTY: &str = "0xfffffffffffffffffffffffff";
const RATE_LIMIT: u32 = 20;

/// Deploys the contract and registers the commitments 1 to `members`, twenty per block; `tell` is called
/// after each block with the number registered so far. Afterwards blocks are mined only on demand.
///
/// # Errors
/// [`ChainError`], when a request fails or the contract refuses one.
pub async fn deploy_with_members(
    chain: &DevChain,
    members: u64,
    mut tell: impl FnMut(u64),
) -> Result<Address, ChainError> {
    let owner = chain.account(0)?;
    let balance = json!([owner.address(), PLENTY]);
    chain.request::<Value>("anvil_setBalance", balance).await?;
    let terms = ContractTerms {
        max_total_rate_limit: u32::MAX,
        ..ContractTerms::published()
    };
    let deployment = deploy(&owner, &terms).await?;
    let tokens = U256::from(10).pow(U256::from(40));
    deployment.mint(&owner, owner.address(), tokens).await?;
    let approve = TestToken::approveCall {
        spender: deployment.membership,
        amount: U256::MAX,
    };
    owner.call(deployment.token, approve.abi_encode()).await?;
    chain.set_automine(false).await?;
    for member in 1..=members {
        let register = RlnMembership::registerCall {
            idCommitment: U256::from(member),
            rateLimit: RATE_LIMIT,
            idCommitmentsToErase: Vec::new(),
        };
        let transaction = json!([{
            "from": owner.address(),
            "to": deployment.membership,
            "data": alloy::hex::encode_prefixed(register.abi_encode()),
            "gas": GAS,
        }]);
        chain
            .request::<Value>("eth_sendTransaction", transaction)
            .await?;
        if member % IN_BLOCK == 0 || member == members {
            chain.mine(1).await?;
            tell(member);
        }
    }
    Ok(deployment.membership)
}
