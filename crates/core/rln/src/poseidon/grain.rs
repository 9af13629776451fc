//! The generator of Poseidon's constants: the Grain LFSR in self-shrinking mode (Poseidon paper,
//! appendix E).

use ark_ff::{BigInt, PrimeField};

use crate::field::Fr;

/// Number of bits of the scalar field's modulus.
const FIELD_BITS: u32 = Fr::MODULUS_BIT_SIZE;

/// Generator with an 80-bit register, whose first bit is bit 0.
pub(super) struct Grain {
    state: u128,
    /// Raw bits produced and not yet used; the next one is bit 0.
    raw: u32,
    /// Number of unused bits in `raw`.
    raw_bits: u32,
}

impl Grain {
    /// Creates the generator for a state of `width` elements, `x^5` and the given numbers of rounds.
    pub(super) fn new(width: usize, full_rounds: usize, partial_rounds: usize) -> Self {
        let mut state = 0u128;
        let mut bits = 0;
        // Each number is written with its highest bit first.
        let mut put = |value: u128, length: u32| {
            for bit in (0..length).rev() {
                state |= (value >> bit & 1) << bits;
                bits += 1;
            }
        };
        put(1, 2); // a prime field
        put(0, 4); // the S-box is a power, not the inverse
        put(u128::from(FIELD_BITS), 12);
        put(width as u128, 12);
        put(full_rounds as u128, 10);
        put(partial_rounds as u128, 10);
        put((1 << 30) - 1, 30);
        let mut grain = Self {
            state,
            raw: 0,
            raw_bits: 0,
        };
        for _ in 0..160 / 16 {
            grain.step();
        }
        grain.raw_bits = 0;
        grain
    }

    /// Generates the next element, rejecting integers that are not below the modulus.
    pub(super) fn element(&mut self) -> Fr {
        loop {
            if let Some(element) = Fr::from_bigint(BigInt::new(self.integer())) {
                return element;
            }
        }
    }

    /// Generates the next element, reduced modulo the field's modulus.
    pub(super) fn reduced_element(&mut self) -> Fr {
        let mut bytes = [0; 32];
        let limbs = self.integer();
        for (chunk, limb) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(limbs) {
            *chunk = limb.to_le_bytes();
        }
        Fr::from_le_bytes_mod_order(&bytes)
    }

    /// Generates an integer of 254 bits, highest bit first, as little-endian limbs.
    fn integer(&mut self) -> [u64; 4] {
        let mut limbs = [0; 4];
        for at in (0..FIELD_BITS as usize).rev() {
            limbs[at / 64] |= u64::from(self.bit()) << (at % 64);
        }
        limbs
    }

    /// Generates the next bit: of each pair of raw bits the second is used if the first is 1.
    fn bit(&mut self) -> bool {
        loop {
            if self.raw_bits == 0 {
                self.step();
            }
            let (counts, bit) = (self.raw & 1 == 1, self.raw & 2 == 2);
            self.raw >>= 2;
            self.raw_bits -= 2;
            if counts {
                return bit;
            }
        }
    }

    /// Produces sixteen raw bits at once, which is possible as the newest tap is 18 bits before the end.
    fn step(&mut self) {
        let s = self.state;
        let new = (s ^ s >> 13 ^ s >> 23 ^ s >> 38 ^ s >> 51 ^ s >> 62) & 0xffff;
        self.state = s >> 16 | new << 64;
        self.raw = new as u32;
        self.raw_bits = 16;
    }
}
