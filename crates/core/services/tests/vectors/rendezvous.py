"""Writes frames of rendezvous and a signed record, one `name hex` a line:

    pip install libp2p==0.8.1 && python rendezvous.py > rendezvous.txt

Frames without a record are those of py-libp2p's own messages, the envelope and its signature are py-libp2p's. Its
registrations have the form of before signed records; those here are written by Google's protobuf from the fields of the
specification.
"""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from libp2p.crypto.secp256k1 import create_new_key_pair
from libp2p.discovery.rendezvous import messages
from libp2p.discovery.rendezvous.pb.rendezvous_pb2 import Message
from libp2p.peer.envelope import Envelope, make_unsigned
from libp2p.peer.id import ID
from multiaddr import Multiaddr

BYTES, STRING, UINT64, MESSAGE, ENUM = 12, 9, 4, 11, 14


def add(file, name, *fields):
    message = file.message_type.add(name=name)
    for number, (field, kind, label, type_name) in fields:
        message.field.add(name=field, number=number, type=kind, label=label, type_name=type_name)


file = descriptor_pb2.FileDescriptorProto(name="rendezvous.proto", package="spec", syntax="proto2")
add(file, "Register", (1, ("ns", STRING, 1, None)), (2, ("record", BYTES, 1, None)), (3, ("ttl", UINT64, 1, None)))
add(
    file,
    "Discovered",
    (1, ("registrations", MESSAGE, 3, ".spec.Register")),
    (2, ("cookie", BYTES, 1, None)),
    (3, ("status", UINT64, 1, None)),
    (4, ("text", STRING, 1, None)),
)
add(
    file,
    "Message",
    (1, ("type", UINT64, 1, None)),
    (2, ("register", MESSAGE, 1, ".spec.Register")),
    (6, ("discovered", MESSAGE, 1, ".spec.Discovered")),
)
add(
    file,
    "WakuPeerRecord",
    (1, ("peer", BYTES, 1, None)),
    (2, ("sequence", UINT64, 1, None)),
    (3, ("addresses", BYTES, 3, None)),
    (4, ("mix_key", STRING, 1, None)),
)
pool = descriptor_pool.DescriptorPool()
pool.Add(file)


def new(name, **fields):
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"spec.{name}"))(**fields)


key = create_new_key_pair(bytes(range(1, 33)))
peer = ID.from_pubkey(key.public_key)
record = new(
    "WakuPeerRecord",
    peer=peer.to_bytes(),
    sequence=1_700_000_000,
    addresses=[Multiaddr(a).to_bytes() for a in ("/ip4/203.0.113.7/tcp/60000", "/dns4/a.example/tcp/443/wss")],
    mix_key="",
).SerializeToString()


def sealed(payload_type, domain="libp2p-custom-peer-record"):
    signature = key.private_key.sign(make_unsigned(domain, payload_type, record))
    return Envelope(key.public_key, payload_type, record, signature).marshal_envelope()


envelope = sealed(bytes([0x30, 0, 0]))
registration = new("Register", ns="rs/1/3", record=envelope, ttl=60)
ok = Message.ResponseStatus.OK
vectors = {
    "peer": peer.to_bytes(),
    "record": record,
    "envelope": envelope,
    "former-envelope": sealed(bytes([0x05, 0x05])),
    "envelope-of-another-domain": sealed(bytes([0x30, 0, 0]), "libp2p-peer-record"),
    "register": new("Message", type=0, register=registration).SerializeToString(),
    "registered": messages.create_register_response_message(ok, "fine", 60).SerializeToString(),
    "refused": messages.create_register_response_message(
        Message.ResponseStatus.E_NOT_AUTHORIZED, "no", 0
    ).SerializeToString(),
    "unregister": messages.create_unregister_message("rs/1/3", peer).SerializeToString(),
    "discover": messages.create_discover_message("rs/1/3", 12, b"cookie").SerializeToString(),
    "discovered-none": messages.create_discover_response_message([], b"cookie", ok, "").SerializeToString(),
    "discovered": new(
        "Message",
        type=4,
        discovered=new("Discovered", registrations=[registration], cookie=b"cookie", status=0),
    ).SerializeToString(),
}
for name, value in vectors.items():
    print(name, value.hex())
