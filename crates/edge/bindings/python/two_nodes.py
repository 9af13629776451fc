"""Two nodes in one program, on loopback: one publishes a message and the other receives it."""

import tempfile
import time

from undertone import NodeError, OutgoingMessage, UndertoneNode

TOPIC = "/example/1/greeting/utf8"


def start(folder):
    settings = {"data-dir": folder, "listen-address": "127.0.0.1", "tcp-port": "0", "rest": "false", "rln": "false"}
    return UndertoneNode.start('network = "local"', settings)


with tempfile.TemporaryDirectory() as folder:
    receiver, sender = start(f"{folder}/receiver"), start(f"{folder}/sender")
    receiver.subscribe([TOPIC])
    sender.connect(receiver.info().addresses[0])
    while True:
        try:
            receipt = sender.publish(OutgoingMessage(content_topic=TOPIC, payload=b"hello"))
            break
        except NodeError.NoPeers:
            time.sleep(0.05)  # The peer tells its topics some milliseconds after the connection.
    message = receiver.receive(60_000)
    assert message is not None and message.hash == receipt.hash, "the message did not arrive"
    print(f"{receiver.info().peer_id} received {message.payload}")
    sender.stop()
    receiver.stop()
