//! A deployed membership contract, and what holders and slashers do with it.

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

/// Gas that is enough for any `slash`, which takes less than half of it. What is not used is not paid
/// for.
const SLASH_GAS: u64 = 2_000_000;

/// A contract, at an endpoint that is only read; what changes it is done by an [`Account`].
#[derive(Debug, Clone)]
pub struct Membership {
    provider: DynProvider,
    contract: Address,
}

/// A registration.
#[derive(Debug, Clone)]
pub struct Registered {
    /// Index of the leaf.
    pub index: u32,
    /// The transaction.
    pub mined: Mined,
}

/// A slashing.
#[derive(Debug, Clone)]
pub struct Slashed {
    /// Index that the member had.
    pub index: u32,
    /// Share of the deposit that nobody gets, in the token's smallest unit.
    pub burned: U256,
    /// The rest, which [`Membership::claim_reward`] pays to the receiver.
    pub reward: U256,
    /// When it can be claimed, in seconds since 1970: at the end of the member's active period.
    pub payable_from_s: u64,
    /// The transaction.
    pub mined: Mined,
}

/// A reward for slashing that was not claimed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reward {
    /// Who gets it.
    pub receiver: Address,
    /// The token of the deposit.
    pub token: Address,
    /// Its amount, in the token's smallest unit.
    pub amount: U256,
    /// When it can be claimed, in seconds since 1970.
    pub payable_from_s: u64,
}

/// Where a membership is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Paid for.
    Active,
    /// To be extended, or to be erased by its holder.
    Grace,
    /// To be erased by anyone; until then it is a member as before.
    Expired,
}

/// A membership.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Its state at the newest block.
    pub state: State,
    /// Index of its leaf.
    pub index: u32,
    /// Messages per epoch.
    pub rate_limit: u32,
    /// Who may extend it and gets the deposit back.
    pub holder: Address,
    /// The token of the deposit.
    pub token: Address,
    /// The deposit, in the token's smallest unit.
    pub deposit: U256,
    /// When the grace period begins, in seconds since 1970.
    pub grace_starts_s: u64,
    /// When it ends.
    pub expires_s: u64,
}

impl Membership {
    /// The contract at an address; nothing is asked yet.
    #[must_use]
    pub fn new(provider: DynProvider, contract: Address) -> Self {
        Self { provider, contract }
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> Address {
        self.contract
    }

    /// Calls a function that changes nothing, at the newest block.
    ///
    /// # Errors
    /// [`ChainError::Answer`] when it does not come from a contract with this function.
    pub async fn read<C: SolCall>(&self, call: C) -> Result<C::Return, ChainError> {
        self.read_from(self.contract, call).await
    }

    /// The price of a rate limit: the token, and the amount in its smallest unit.
    ///
    /// # Errors
    /// [`ChainError`].
    pub async fn price(&self, rate_limit: u32) -> Result<(Address, U256), ChainError> {
        let calculator = self.read(RlnMembership::priceCalculatorCall {}).await?;
        let call = PriceCalculator::calculateCall {
            rateLimit: rate_limit,
        };
        let price = self.read_from(calculator, call).await?;
        Ok((price.token, price.price))
    }

    /// What an account has of a token, in the token's smallest unit.
    ///
    /// # Errors
    /// [`ChainError`].
    pub async fn balance(&self, account: Address, token: Address) -> Result<U256, ChainError> {
        self.read_from(token, TestToken::balanceOfCall { account })
            .await
    }

    /// The number of the chain that the endpoint is of, EIP-155.
    ///
    /// # Errors
    /// [`ChainError::Rpc`].
    pub async fn chain_id(&self) -> Result<u64, ChainError> {
        asked("eth_chainId", self.provider.get_chain_id()).await
    }

    /// The membership of a commitment; `None` when there is none or it was erased or slashed.
    ///
    /// # Errors
    /// [`ChainError`].
    pub async fn info(&self, commitment: &Fr) -> Result<Option<Info>, ChainError> {
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
            now if now >= expires_s => State::Expired,
            now if now >= grace_starts_s => State::Grace,
            _ => State::Active,
        };
        Ok(Some(Info {
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

    /// Lets the contract take the price of a rate limit, if it may not yet.
    ///
    /// # Errors
    /// [`ChainError`].
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

    /// Registers a commitment, after erasing others; the price has to be approved.
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

    /// Makes memberships in grace active again.
    ///
    /// # Errors
    /// As [`Membership::register`].
    pub async fn extend(&self, holder: &Account, members: &[Fr]) -> Result<Mined, ChainError> {
        let call = RlnMembership::extendMembershipsCall {
            idCommitments: words(members),
        };
        holder.call(self.contract, call.abi_encode()).await
    }

    /// Erases memberships; with `clear` their leaves become 0 at once, which takes more gas.
    ///
    /// # Errors
    /// As [`Membership::register`].
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

    /// What a holder may withdraw, in the token's smallest unit.
    ///
    /// # Errors
    /// [`ChainError`].
    pub async fn withdrawable(&self, holder: Address, token: Address) -> Result<U256, ChainError> {
        self.read(RlnMembership::depositsToWithdrawCall { holder, token })
            .await
    }

    /// Withdraws what erasures have freed.
    ///
    /// # Errors
    /// As [`Membership::register`].
    pub async fn withdraw(&self, holder: &Account, token: Address) -> Result<Mined, ChainError> {
        let call = RlnMembership::withdrawCall { token };
        holder.call(self.contract, call.abi_encode()).await
    }

    /// The first step of slashing: announces it without telling whom it is about. The second may
    /// follow in the next block.
    ///
    /// # Errors
    /// As [`Membership::register`].
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

    /// The second step: removes the member with this secret. From here on the secret is public.
    ///
    /// # Errors
    /// As [`Membership::register`].
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
        // An estimate would be made as of the newest block, which may be that of the commitment: too
        // early there, and right in any block that is still to come.
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

    /// The reward for slashing a member; `None` when there is none, or it was claimed.
    ///
    /// # Errors
    /// [`ChainError`].
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

    /// The third step of slashing: pays the reward to its receiver, whoever asks for it.
    ///
    /// # Errors
    /// As [`Membership::register`]; [`Refusal::RewardTooEarly`] tells when to try again.
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

/// What is committed to before slashing: keccak256(abi.encode(secret, receiver, sender)).
#[must_use]
pub fn slash_commitment(secret: &Fr, receiver: Address, sender: Address) -> B256 {
    keccak256((word_from_field(secret), receiver, sender).abi_encode())
}

fn words(elements: &[Fr]) -> Vec<U256> {
    elements.iter().map(word_from_field).collect()
}
