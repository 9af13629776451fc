//! A deployed membership contract, with the operations of holders and slashers.

use alloy::network::TransactionBuilder;
use alloy::primitives::{Address, B256, U256, keccak256};
use alloy::providers::{DynProvider, Provider};
use alloy::rpc::types::TransactionRequest;
use alloy::sol_types::{SolCall, SolEvent, SolValue};
use undertone_rln::Fr;

use crate::abi::{PriceCalculator, RlnMembership, TestToken};
use crate::account::{Account, Mined, asked};
use crate::error::ChainError;
use crate::field::word_from_field;
use crate::refusal::Refusal;

/// Gas limit of `slash`, which uses less than half of it. Unused gas is not paid for.
const SLASH_GAS: u64 = 2_000_000;

/// Membership contract at a read-only endpoint; transactions are sent by an [`Account`].
#[derive(Debug, Clone)]
pub struct Membership {
    provider: DynProvider,
    contract: Address,
}

/// Result of a registration.
#[derive(Debug, Clone)]
pub struct Registered {
    /// Index of the member's leaf.
    pub index: u32,
    /// The transaction of the registration.
    pub mined: Mined,
}

/// Result of slashing a member.
#[derive(Debug, Clone)]
pub struct Slashed {
    /// Index of the slashed member's leaf.
    pub index: u32,
    /// Share of the deposit that is burned, in the token's smallest unit.
    pub burned: U256,
    /// Rest of the deposit, paid to the receiver by [`Membership::claim_reward`].
    pub reward: U256,
    /// Earliest time of a claim, in seconds since 1970: the end of the member's active period.
    pub payable_from_s: u64,
    /// The transaction that slashed the member.
    pub mined: Mined,
}

/// A reward for slashing that is not claimed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reward {
    /// Account to which the reward is paid.
    pub receiver: Address,
    /// Address of the deposit's token.
    pub token: Address,
    /// Amount of the reward, in the token's smallest unit.
    pub amount: U256,
    /// Earliest time of a claim, in seconds since 1970.
    pub payable_from_s: u64,
}

/// Phase of a membership's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MembershipPhase {
    /// The active period, which is paid for.
    Active,
    /// The grace period: the holder can extend or erase the membership.
    Grace,
    /// The grace period is over: anyone can erase the membership, which stays valid until then.
    Expired,
}

/// State and terms of a membership.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MembershipInfo {
    /// Phase as of the newest block.
    pub state: MembershipPhase,
    /// Index of the member's leaf.
    pub index: u32,
    /// Rate limit, in messages per epoch.
    pub rate_limit: u32,
    /// Account that may extend the membership and receives the deposit back.
    pub holder: Address,
    /// Address of the deposit's token.
    pub token: Address,
    /// Amount of the deposit, in the token's smallest unit.
    pub deposit: U256,
    /// Start of the grace period, in seconds since 1970.
    pub grace_starts_s: u64,
    /// End of the grace period, in seconds since 1970.
    pub expires_s: u64,
}

impl Membership {
    /// Creates a handle to the contract at an address, without contacting the endpoint yet.
    #[must_use]
    pub fn new(provider: DynProvider, contract: Address) -> Self {
        Self { provider, contract }
    }

    /// Returns the contract's address.
    #[must_use]
    pub fn address(&self) -> Address {
        self.contract
    }

    /// Calls a view function at the newest block.
    ///
    /// # Errors
    /// [`ChainError::Answer`] when the answer is not that of a contract with this function,
    /// or another [`ChainError`].
    pub async fn read<C: SolCall>(&self, call: C) -> Result<C::Return, ChainError> {
        self.read_from(self.contract, call).await
    }

    /// Returns the price of a rate limit: the token, and the amount in its smallest unit.
    ///
    /// # Errors
    /// [`ChainError`], when a request fails or an answer cannot be read.
    pub async fn price(&self, rate_limit: u32) -> Result<(Address, U256), ChainError> {
        let calculator = self.read(RlnMembership::priceCalculatorCall {}).await?;
        let call = PriceCalculator::calculateCall {
            rateLimit: rate_limit,
        };
        let price = self.read_from(calculator, call).await?;
        Ok((price.token, price.price))
    }

    /// Returns an account's balance of a token, in the token's smallest unit.
    ///
    /// # Errors
    /// [`ChainError`], when a request fails or an answer cannot be read.
    pub async fn balance(&self, account: Address, token: Address) -> Result<U256, ChainError> {
        self.read_from(token, TestToken::balanceOfCall { account })
            .await
    }

    /// Returns the chain id of the endpoint, as of EIP-155.
    ///
    /// # Errors
    /// [`ChainError::Rpc`] when the request fails.
    pub async fn chain_id(&self) -> Result<u64, ChainError> {
        asked("eth_chainId", self.provider.get_chain_id()).await
    }

    /// Whether there is a contract at the address.
    ///
    /// # Errors
    /// [`ChainError::Rpc`] when the request fails.
    pub async fn has_code(&self) -> Result<bool, ChainError> {
        let code = asked(
            "eth_getCode",
            self.provider.get_code_at(self.contract).into_future(),
        );
        Ok(!code.await?.is_empty())
    }

    /// Returns the membership of a commitment; `None` when it was never registered, or was
    /// erased or slashed.
    ///
    /// # Errors
    /// [`ChainError`], when a request fails or an answer cannot be read.
    pub async fn info(&self, commitment: &Fr) -> Result<Option<MembershipInfo>, ChainError> {
        let id = word_from_field(commitment);
        let m = self
            .read(RlnMembership::membershipsCall { idCommitment: id })
            .await?;
        if m.rateLimit == 0 {
            return Ok(None);
        }
        let newest = self.provider.get_block(Default::default());
        let newest = asked("eth_getBlockByNumber", newest).await?;
        let now_s = newest.map_or(0, |block| block.header.timestamp);
        let grace_starts_s = m.gracePeriodStartTimestamp.saturating_to::<u64>();
        let expires_s = grace_starts_s.saturating_add(m.gracePeriodDuration.into());
        let state = match now_s {
            now if now >= expires_s => MembershipPhase::Expired,
            now if now >= grace_starts_s => MembershipPhase::Grace,
            _ => MembershipPhase::Active,
        };
        Ok(Some(MembershipInfo {
            state,
            index: m.index,
            rate_limit: m.rateLimit,
            holder: m.holder,
            token: m.token,
            deposit: m.depositAmount,
            grace_starts_s,
            expires_s,
        }))
    }

    /// Approves the price of a rate limit as the contract's token allowance, unless it
    /// is high enough.
    ///
    /// # Errors
    /// [`ChainError`], when a request fails or an answer cannot be read.
    pub async fn approve(&self, holder: &Account, rate_limit: u32) -> Result<(), ChainError> {
        let (token, price) = self.price(rate_limit).await?;
        let call = TestToken::allowanceCall {
            owner: holder.address(),
            spender: self.contract,
        };
        if self.read_from(token, call).await? < price {
            let call = TestToken::approveCall {
                spender: self.contract,
                amount: price,
            };
            holder.call(token, call.abi_encode()).await?;
        }
        Ok(())
    }

    /// Registers a commitment, after erasing the memberships in `erase`; the price must
    /// have been approved.
    ///
    /// # Errors
    /// [`ChainError::Refused`] with the contract's reason, or another [`ChainError`].
    pub async fn register(
        &self,
        holder: &Account,
        commitment: &Fr,
        rate_limit: u32,
        erase: &[Fr],
    ) -> Result<Registered, ChainError> {
        let call = RlnMembership::registerCall {
            idCommitment: word_from_field(commitment),
            rateLimit: rate_limit,
            idCommitmentsToErase: words(erase),
        };
        let mined = holder.call(self.contract, call.abi_encode()).await?;
        let event: RlnMembership::MembershipRegistered = self.event(&mined)?;
        Ok(Registered {
            index: event.index,
            mined,
        })
    }

    /// Extends memberships that are in their grace period, which makes them active again.
    ///
    /// # Errors
    /// The errors of [`Membership::register`].
    pub async fn extend(&self, holder: &Account, members: &[Fr]) -> Result<Mined, ChainError> {
        let call = RlnMembership::extendMembershipsCall {
            idCommitments: words(members),
        };
        holder.call(self.contract, call.abi_encode()).await
    }

    /// Erases memberships; with `clear` their leaves become 0 at once, which uses more gas.
    ///
    /// # Errors
    /// The errors of [`Membership::register`].
    pub async fn erase(
        &self,
        sender: &Account,
        members: &[Fr],
        clear: bool,
    ) -> Result<Mined, ChainError> {
        let call = RlnMembership::eraseMemberships_1Call {
            idCommitments: words(members),
            eraseFromMembershipSet: clear,
        };
        sender.call(self.contract, call.abi_encode()).await
    }

    /// Returns the amount that a holder may withdraw, in the token's smallest unit.
    ///
    /// # Errors
    /// [`ChainError`], when a request fails or an answer cannot be read.
    pub async fn withdrawable(&self, holder: Address, token: Address) -> Result<U256, ChainError> {
        self.read(RlnMembership::depositsToWithdrawCall { holder, token })
            .await
    }

    /// Withdraws the deposits of erased memberships.
    ///
    /// # Errors
    /// The errors of [`Membership::register`].
    pub async fn withdraw(&self, holder: &Account, token: Address) -> Result<Mined, ChainError> {
        let call = RlnMembership::withdrawCall { token };
        holder.call(self.contract, call.abi_encode()).await
    }

    /// Takes the first step of slashing: commits to it without revealing the member. The second
    /// step may follow in the next block.
    ///
    /// # Errors
    /// The errors of [`Membership::register`].
    pub async fn commit_slash(
        &self,
        sender: &Account,
        secret: &Fr,
        receiver: Address,
    ) -> Result<Mined, ChainError> {
        let call = RlnMembership::commitSlashCall {
            commitment: slash_commitment(secret, receiver, sender.address()),
        };
        sender.call(self.contract, call.abi_encode()).await
    }

    /// Takes the second step of slashing: removes the member with this secret, which becomes public.
    ///
    /// # Errors
    /// The errors of [`Membership::register`].
    pub async fn slash(
        &self,
        sender: &Account,
        secret: &Fr,
        receiver: Address,
    ) -> Result<Slashed, ChainError> {
        let call = RlnMembership::slashCall {
            secret: word_from_field(secret),
            receiver,
        };
        let input = call.abi_encode();
        // A gas estimate would run at the newest block, which may be the block of the commitment. The call is
        // too early there, but valid in any later block.
        match sender.rehearse(self.contract, &input).await {
            Ok(()) | Err(ChainError::Refused(Refusal::SlashTooEarly(_))) => {}
            Err(error) => return Err(error),
        }
        let sender = sender.clone().with_gas_limit(SLASH_GAS);
        let mined = sender.call(self.contract, input).await?;
        let event: RlnMembership::MembershipSlashed = self.event(&mined)?;
        Ok(Slashed {
            index: event.index,
            burned: event.burned,
            reward: event.reward,
            payable_from_s: event.payableFrom.saturating_to(),
            mined,
        })
    }

    /// Returns the reward for slashing a member; `None` when there is none, or it was claimed.
    ///
    /// # Errors
    /// [`ChainError`], when a request fails or an answer cannot be read.
    pub async fn reward(&self, commitment: &Fr) -> Result<Option<Reward>, ChainError> {
        let call = RlnMembership::slashRewardCall {
            idCommitment: word_from_field(commitment),
        };
        let reward = self.read(call).await?;
        Ok((reward.amount != U256::ZERO).then(|| Reward {
            receiver: reward.receiver,
            token: reward.token,
            amount: reward.amount,
            payable_from_s: reward.payableFrom.saturating_to(),
        }))
    }

    /// Takes the third step of slashing: pays the reward to its receiver; any account may send this.
    ///
    /// # Errors
    /// The errors of [`Membership::register`]; [`Refusal::RewardTooEarly`] says when to try again.
    pub async fn claim_reward(
        &self,
        sender: &Account,
        commitment: &Fr,
    ) -> Result<Mined, ChainError> {
        let call = RlnMembership::claimRewardCall {
            idCommitment: word_from_field(commitment),
        };
        sender.call(self.contract, call.abi_encode()).await
    }

    async fn read_from<C: SolCall>(
        &self,
        contract: Address,
        call: C,
    ) -> Result<C::Return, ChainError> {
        let request = TransactionRequest::default()
            .with_to(contract)
            .with_input(call.abi_encode());
        let answer = asked("eth_call", self.provider.call(request)).await?;
        C::abi_decode_returns(&answer).map_err(|_| ChainError::Answer {
            function: C::SIGNATURE,
            contract,
        })
    }

    fn event<E: SolEvent>(&self, mined: &Mined) -> Result<E, ChainError> {
        let own = mined
            .logs
            .iter()
            .filter(|log| log.address() == self.contract);
        own.filter_map(|log| E::decode_log(&log.inner).ok())
            .next()
            .map(|log| log.data)
            .ok_or(ChainError::NoEvent {
                hash: mined.hash,
                event: E::SIGNATURE,
                contract: self.contract,
            })
    }
}

/// Computes the commitment to a slashing: keccak256(abi.encode(secret, receiver, sender)).
#[must_use]
pub fn slash_commitment(secret: &Fr, receiver: Address, sender: Address) -> B256 {
    keccak256((word_from_field(secret), receiver, sender).abi_encode())
}

fn words(elements: &[Fr]) -> Vec<U256> {
    elements.iter().map(word_from_field).collect()
}
