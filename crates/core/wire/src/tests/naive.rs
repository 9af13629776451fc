//! A deliberately simple reader of one message and writer of varints: big integers, copies, no positions.

/// Reason why the naive reader stopped.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    FieldNumber,
    Incomplete,
    Overflow,
    Truncated,
    WireType,
}

/// Value of a field; a fixed-width one is only counted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Naive {
    Number(u64),
    Bytes(Vec<u8>),
    Fixed,
}

/// Encodes a number digit by digit.
pub(super) fn encode_varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let digit = (value % 128) as u8;
        value /= 128;
        if value == 0 {
            out.push(digit);
            return out;
        }
        out.push(digit + 128);
    }
}

/// Reads a varint as an integer of any size and then checks whether it fits 64 bits.
pub(super) fn varint(input: &[u8]) -> Result<(u64, &[u8]), Stop> {
    let Some(last) = input.iter().take(10).position(|byte| *byte < 128) else {
        return Err(if input.len() < 10 {
            Stop::Incomplete
        } else {
            Stop::Overflow
        });
    };
    let (digits, rest) = input.split_at(last + 1);
    let value = digits
        .iter()
        .rev()
        .fold(0u128, |value, digit| value * 128 + u128::from(digit % 128));
    let value = u64::try_from(value).map_err(|_| Stop::Overflow)?;
    Ok((value, rest))
}

/// Reads all fields of a message.
pub(super) fn fields(mut input: &[u8]) -> Result<Vec<(u64, Naive)>, Stop> {
    let mut fields = Vec::new();
    while !input.is_empty() {
        let (tag, rest) = varint(input)?;
        let number = tag / 8;
        if number == 0 || number >= 1 << 29 {
            return Err(Stop::FieldNumber);
        }
        let (value, rest) = match tag % 8 {
            0 => {
                let (value, rest) = varint(rest)?;
                (Naive::Number(value), rest)
            }
            1 => (Naive::Fixed, split(rest, 8)?.1),
            2 => {
                let (len, rest) = varint(rest)?;
                let (content, rest) = split(rest, len)?;
                (Naive::Bytes(content.to_vec()), rest)
            }
            5 => (Naive::Fixed, split(rest, 4)?.1),
            _ => return Err(Stop::WireType),
        };
        fields.push((number, value));
        input = rest;
    }
    Ok(fields)
}

fn split(input: &[u8], len: u64) -> Result<(&[u8], &[u8]), Stop> {
    if len > input.len() as u64 {
        return Err(Stop::Truncated);
    }
    Ok(input.split_at(len as usize))
}
