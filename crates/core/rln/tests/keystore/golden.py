"""Writes golden.json: a keystore made without any code of this repository.

    python3 golden.py > golden.json      (hashlib, and `cryptography` for AES)

The identity is zerokit's seeded test vector (`test_extended_seeded_keygen`); salts and ivs are fixed.
The first credential is as nwaku writes it; the second has its chain id as a number, as other
programs write it, and few rounds.
"""

import hashlib
import json
import sys

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

IDENTITY = {  # big-endian
    "idTrapdoor": "0766ce6c7e7a01bdf5b3f257616f603918c30946fa23480f2859c597817e6716",
    "idNullifier": "1f18714c7bc83b5bca9e89d404cf6f2f585bc4c0f7ed8b53742b7e2b298f50b4",
    "idSecretHash": "2aca62aaa7abaf3686fff2caf00f55ab9462dc12db5b5d4bcf3994e671f8e521",
    "idCommitment": "068b66aa0a8320d2e56842581553285393188714c48f9b17acd198b4f1734c5c",
}
PASSWORD = "correct horse \N{BATTERY}"


def keccak_256(data):
    """Keccak with the padding of 2011, which hashlib does not have."""

    def rotate(lane, by):
        by %= 64
        return ((lane << by) | (lane >> (64 - by))) & (2**64 - 1)

    lanes = [[0] * 5 for _ in range(5)]
    rate = 136
    data = bytearray(data) + b"\x01" + b"\x00" * ((-len(data) - 2) % rate) + b"\x80"
    if len(data) % rate:  # one byte of room: both ends of the padding in it
        data = data[:-2] + b"\x81"
    for start in range(0, len(data), rate):
        for lane in range(rate // 8):
            at = start + 8 * lane
            lanes[lane % 5][lane // 5] ^= int.from_bytes(data[at : at + 8], "little")
        register = 1
        for _ in range(24):
            parity = [a ^ b ^ c ^ d ^ e for a, b, c, d, e in lanes]
            for x in range(5):
                mix = parity[x - 1] ^ rotate(parity[(x + 1) % 5], 1)
                lanes[x] = [lane ^ mix for lane in lanes[x]]
            x, y, moved = 1, 0, lanes[1][0]
            for step in range(24):
                x, y = y, (2 * x + 3 * y) % 5
                moved, lanes[x][y] = lanes[x][y], rotate(moved, (step + 1) * (step + 2) // 2)
            for y in range(5):
                row = [lanes[x][y] for x in range(5)]
                for x in range(5):
                    lanes[x][y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5])
            for power in range(7):
                register = ((register << 1) ^ ((register >> 7) * 0x71)) % 256
                if register & 2:
                    lanes[0][0] ^= 1 << ((1 << power) - 1)
    return b"".join(lanes[x][0].to_bytes(8, "little") for x in range(4))


assert keccak_256(b"").hex() == "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
assert keccak_256(b"abc").hex() == "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"


def credential(chain_id, address, index, limit, rounds, salt, iv):
    plain = {
        "membershipContract": {"chainId": chain_id, "address": address},
        "treeIndex": index,
        "identityCredential": {
            name: list(bytes.fromhex(digits)[::-1]) for name, digits in IDENTITY.items()
        },
        "userMessageLimit": limit,
    }
    text = json.dumps(plain, separators=(",", ":")).encode()
    key = hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), salt, rounds, 32)
    ciphertext = Cipher(algorithms.AES(key[:16]), modes.CTR(iv)).encryptor().update(text)
    name = hashlib.sha256(f"{chain_id}{address}{index}".encode()).hexdigest().upper()
    return name, {
        "crypto": {
            "cipher": "aes-128-ctr",
            "cipherparams": {"iv": iv.hex()},
            "ciphertext": ciphertext.hex(),
            "kdf": "pbkdf2",
            "kdfparams": {"dklen": 32, "c": rounds, "prf": "hmac-sha256", "salt": salt.hex()},
            "mac": keccak_256(key[16:] + ciphertext).hex(),
        }
    }


CONTRACT = "0xB9cd878C90E49F797B4431fBF4fb333108CB90e6"
keystore = {
    "application": "waku-rln-relay",
    "appIdentifier": "01234567890abcdef",
    "version": "0.2",
    "credentials": dict(
        [
            credential("59141", CONTRACT, 7, 100, 1_000_000, bytes(range(16)), bytes(range(16, 32))),
            credential(11155111, CONTRACT, 1048575, 20, 1000, bytes([170] * 32), bytes([255] * 16)),
        ]
    ),
}
json.dump(keystore, sys.stdout, separators=(",", ":"))
print()
