"""Tests of the Python module: real nodes in this process, over TCP on loopback."""

import gc
import os
import tempfile
import threading
import time
import unittest

import undertone
from undertone import NodeError, OutgoingMessage, SendingStep, StoreQuery, UndertoneNode

TOPIC = "/example/1/greeting/utf8"
PUBSUB_TOPIC = "/waku/2/rs/66/0"

# A guard against hangs only.
HANG_MS = 120_000


def until(condition, what):
    """Waits until the condition is true."""
    deadline = time.monotonic() + HANG_MS / 1000
    while not condition():
        assert time.monotonic() < deadline, f"it never came: {what}"
        time.sleep(0.02)


def handles():
    """Number of open files, sockets and other handles of this process."""
    return len(os.listdir("/proc/self/fd"))


def threads():
    """Number of threads of this process, those of Rust included."""
    return len(os.listdir("/proc/self/task"))


def memory_kib():
    """Resident memory of this process."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


class Nodes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.started = 0

    def start(self, toml="", **settings):
        """Starts a node of network `local` without rate limiting; underscores stand for dashes in keys."""
        self.started += 1
        common = {
            "data-dir": f"{self.folder}/{self.started}",
            "listen-address": "127.0.0.1",
            "tcp-port": "0",
            "rest": "false",
            "rln": "false",
        }
        common |= {key.replace("_", "-"): value for key, value in settings.items()}
        node = UndertoneNode.start(toml, common)
        self.addCleanup(node.stop)
        return node

    def pair(self, **settings):
        """Starts a receiver, and a sender that is connected to it."""
        receiver = self.start(**settings)
        sender = self.start(static_peers=receiver.info().addresses[0])
        return receiver, sender

    def publish(self, node, message):
        """Publishes as soon as a peer for the topic is connected."""
        receipts = []

        def published():
            try:
                receipts.append(node.publish(message))
            except NodeError.NoPeers:
                return False
            return True

        until(published, "a peer to publish to")
        return receipts[0]


class Messages(Nodes):
    def test_a_message_arrives_whole(self):
        receiver, sender = self.pair()
        receiver.subscribe([TOPIC])
        message = OutgoingMessage(content_topic=TOPIC, payload=bytes(range(256)), meta=b"\0meta", timestamp_ns=None)
        receipt = self.publish(sender, message)
        received = receiver.receive(HANG_MS)
        self.assertEqual(received.hash, receipt.hash)
        self.assertEqual(received.pubsub_topic, receipt.pubsub_topic)
        self.assertEqual(received.timestamp_ns, receipt.timestamp_ns)
        self.assertEqual((received.payload, received.meta), (bytes(range(256)), b"\0meta"))
        self.assertEqual(received.sender_peer, sender.info().peer_id)
        self.assertEqual((received.version, received.ephemeral), (None, False))
        self.assertIsNone(receiver.receive(0))

    def test_only_messages_of_a_subscription_are_received(self):
        receiver, sender = self.pair()
        receiver.subscribe([TOPIC])
        other = "/example/1/other/utf8"
        self.publish(sender, OutgoingMessage(content_topic=other, payload=b"not wanted"))
        self.publish(sender, OutgoingMessage(content_topic=TOPIC, payload=b"wanted"))
        self.assertEqual(receiver.receive(HANG_MS).payload, b"wanted")
        receiver.unsubscribe([TOPIC])
        receiver.subscribe([], PUBSUB_TOPIC)
        self.publish(sender, OutgoingMessage(content_topic=TOPIC, payload=b"of all", pubsub_topic=PUBSUB_TOPIC))
        self.assertEqual(receiver.receive(HANG_MS).payload, b"of all")

    def test_a_light_node_publishes_and_receives_through_its_peer(self):
        relay = self.start()
        peer = relay.info().addresses[0]
        other = self.start(static_peers=peer)
        light = self.start(relay="false", filternode=peer, lightpushnode=peer)
        other.subscribe([TOPIC])
        light.subscribe([TOPIC])
        until(lambda: any(one.pubsub_topics for one in other.peers()), "the relay's topics")
        receipt = light.publish(OutgoingMessage(content_topic=TOPIC, payload=b"from a light node"))
        self.assertEqual(other.receive(HANG_MS).hash, receipt.hash)
        receipt = self.publish(other, OutgoingMessage(content_topic=TOPIC, payload=b"to a light node"))

        def arrived():
            message = light.receive(1000)
            # A filter peer pushes a client's own message to it too, which comes first.
            return message is not None and message.hash == receipt.hash

        until(arrived, "the message")

    def test_history_is_paged(self):
        store, sender = self.pair(store="true")
        sent = [
            self.publish(sender, OutgoingMessage(content_topic=TOPIC, payload=b"%d" % number)).hash
            for number in range(5)
        ]
        until(lambda: len(store.query_store(StoreQuery()).messages) == 5, "the archive of all messages")
        address = store.info().addresses[0]
        found, cursor = [], None
        while True:
            page = sender.query_store(StoreQuery(peer=address, content_topics=[TOPIC], cursor=cursor, limit=2))
            found += [message.hash for message in page.messages]
            cursor = page.next
            if cursor is None:
                break
        self.assertEqual(sorted(found), sorted(sent))
        one = sender.query_store(StoreQuery(peer=address, hashes=sent[1:2]))
        self.assertEqual([message.payload for message in one.messages], [b"1"])

    def test_a_listener_gets_each_message_and_may_fail(self):
        receiver, sender = self.pair()
        receiver.subscribe([TOPIC])
        heard = []

        class Listener(undertone.MessageListener):
            def on_message(self, message):
                heard.append(message.payload)
                if len(heard) == 1:
                    raise ValueError("the listener's own mistake")
                if len(heard) == 2:
                    raise undertone.ListenerError.Failed("one it tells of")
                receiver.stop()

        receiver.listen(Listener())
        payloads = [b"first", b"second", b"third"]
        for payload in payloads:
            self.publish(sender, OutgoingMessage(content_topic=TOPIC, payload=payload))
        until(lambda: len(heard) == 3, "all messages")
        self.assertEqual(sorted(heard), sorted(payloads))
        receiver.stop()
        self.assertRaises(NodeError.Stopped, receiver.info)

    def test_a_sent_message_is_answered_for(self):
        receiver = self.start(store="true")
        peer = receiver.info().addresses[0]
        # The word of a store counts alone if it is named.
        sender = self.start(static_peers=peer, storenode=peer)
        receiver.subscribe([TOPIC])
        number = sender.send(OutgoingMessage(content_topic=TOPIC, payload=b"answered for"))
        reports = []

        def ended():
            report = sender.receive_report(1000)
            reports.extend([report] if report else [])
            return reports and reports[-1].is_end

        until(ended, "the end of the message")
        self.assertEqual({report.id for report in reports}, {number})
        steps = [report.step for report in reports]
        self.assertEqual((steps[0], steps[-1]), (SendingStep.QUEUED, SendingStep.STORED))
        self.assertEqual(receiver.receive(HANG_MS).hash, reports[-1].hash)
        kept = sender.send_reports(number, forget=True)
        self.assertEqual([report.number for report in kept], [report.number for report in reports])
        self.assertEqual(sender.send_reports(), [])

    def test_a_message_that_was_accepted_is_sent_after_a_restart(self):
        receiver = self.start()
        receiver.subscribe([TOPIC])
        alone = self.start(data_dir=f"{self.folder}/same")
        alone.send(OutgoingMessage(content_topic=TOPIC, payload=b"from before"))
        alone.stop()
        self.start(data_dir=f"{self.folder}/same", static_peers=receiver.info().addresses[0])
        self.assertEqual(receiver.receive(HANG_MS).payload, b"from before")

    def test_health_and_peers_are_told(self):
        receiver, sender = self.pair()
        until(lambda: any(peer.connected for peer in receiver.peers()), "the peer")
        (peer,) = receiver.peers()
        self.assertEqual(peer.peer_id, sender.info().peer_id)
        health = receiver.health()
        self.assertEqual(health.connection, undertone.RelayConnection.PARTIALLY_CONNECTED)
        self.assertIn("Relay", [protocol.name for protocol in health.protocols])


class Mistakes(Nodes):
    def test_a_bad_value_names_the_key(self):
        with self.assertRaises(NodeError.Configuration) as raised:
            self.start(tcp_port="many")
        self.assertEqual(raised.exception.key, "tcp-port")
        self.assertIn('"many"', raised.exception.reason)
        with self.assertRaises(NodeError.Configuration) as raised:
            self.start("[gossip]\nd-lo = 3")
        self.assertEqual(raised.exception.key, "gossip.d-lo")
        self.assertIn("configuration text:2", raised.exception.reason)
        self.assertIn('did you mean "gossip.d-low"', raised.exception.reason)
        with self.assertRaises(NodeError.Configuration) as raised:
            self.start("this is no TOML")
        self.assertEqual(raised.exception.key, "")

    def test_a_port_in_use_names_the_keys(self):
        first = self.start(rest="true", rest_port="0")
        port = first.info().rest_address.rsplit(":", 1)[1]
        with self.assertRaises(NodeError.Start) as raised:
            self.start(rest="true", rest_port=port)
        self.assertIn("rest-port", raised.exception.reason)

    def test_bad_arguments_are_named(self):
        node = self.start()
        with self.assertRaises(NodeError.Argument) as raised:
            node.connect("nowhere")
        self.assertEqual(raised.exception.argument, "address")
        with self.assertRaises(NodeError.Argument) as raised:
            node.subscribe(["no content topic"])
        self.assertEqual(raised.exception.argument, "content_topic")
        with self.assertRaises(NodeError.Argument) as raised:
            node.subscribe([TOPIC], "/waku/2/rs/1/0")
        self.assertEqual(raised.exception.argument, "pubsub_topic")
        with self.assertRaises(NodeError.Argument) as raised:
            node.query_store(StoreQuery(limit=101))
        self.assertEqual(raised.exception.argument, "limit")
        with self.assertRaises(NodeError.Argument) as raised:
            node.publish(OutgoingMessage(content_topic=TOPIC, payload=bytes(2 << 20)))
        self.assertEqual(raised.exception.argument, "message")

    def test_a_peer_that_is_not_there_is_told(self):
        gone = self.start()
        address = gone.info().addresses[0]
        gone.stop()
        node = self.start()
        self.assertRaises(NodeError.Peer, node.connect, address)
        self.assertRaises(NodeError.Peer, node.query_store, StoreQuery(peer=address))
        self.assertRaises(NodeError.NoPeers, node.query_store, StoreQuery())

    def test_keys_are_described(self):
        keys = {key.name: key for key in undertone.configuration_keys()}
        self.assertEqual(keys["tcp-port"].default_value, "60000")
        self.assertIn("gossip.d", keys)


class Ends(Nodes):
    def test_stopping_wakes_those_who_wait(self):
        node = self.start()
        outcome = []

        def wait():
            try:
                outcome.append(node.receive(HANG_MS))
            except NodeError.Stopped:
                outcome.append("stopped")

        waiting = [threading.Thread(target=wait) for _ in range(4)]
        for thread in waiting:
            thread.start()
        node.stop()
        for thread in waiting:
            thread.join(HANG_MS / 1000)
        self.assertEqual(outcome, ["stopped"] * 4)

    def test_a_stopped_node_refuses_and_starts_again_as_itself(self):
        node = self.start(data_dir=f"{self.folder}/same")
        peer_id = node.info().peer_id
        node.stop()
        node.stop()
        for call in (node.info, node.peers, node.health, lambda: node.subscribe([TOPIC]), lambda: node.receive(0)):
            self.assertRaises(NodeError.Stopped, call)
        again = self.start(data_dir=f"{self.folder}/same")
        self.assertEqual(again.info().peer_id, peer_id)

    def test_a_hundred_nodes_leave_no_handle_and_no_thread(self):
        def one(number):
            # Every second node is only dropped, as a program would that forgets to stop it.
            node = UndertoneNode.start(
                "",
                {
                    "data-dir": f"{self.folder}/{number % 4}",
                    "listen-address": "127.0.0.1",
                    "tcp-port": "0",
                    "rest-port": "0",
                    "rln": "false",
                    "store": "true",
                },
            )
            node.subscribe([TOPIC])
            if number % 2 == 0:
                node.stop()

        for number in range(8):
            one(number)
        gc.collect()
        before = handles(), threads(), memory_kib()
        for number in range(100):
            one(number)
        gc.collect()
        # The system takes a moment to end a thread that has returned.
        until(lambda: handles() <= before[0] and threads() <= before[1], f"handles and threads of before, {before}")
        grown_kib = memory_kib() - before[2]
        print(f"after 100 nodes: {handles()} handles, {threads()} threads, {grown_kib} KiB more memory", flush=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
