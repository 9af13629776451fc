import java.nio.file.Files
import uniffi.undertone.NodeException
import uniffi.undertone.OutgoingMessage
import uniffi.undertone.UndertoneNode

/** Subject of the message. */
const val TOPIC = "/example/1/greeting/utf8"

fun start(): UndertoneNode {
    val folder = Files.createTempDirectory("undertone").toString()
    val settings = mapOf(
        "data-dir" to folder, "listen-address" to "127.0.0.1", "tcp-port" to "0", "rest" to "false", "rln" to "false",
    )
    return UndertoneNode.start("network = \"local\"", settings)
}

/** Two nodes in one program, on loopback: one publishes a message and the other receives it. */
fun main() {
    val receiver = start()
    val sender = start()
    receiver.subscribe(listOf(TOPIC))
    sender.connect(receiver.info().addresses.first())
    val message = OutgoingMessage(contentTopic = TOPIC, payload = "hello".toByteArray())
    var sent: String? = null
    while (sent == null) {
        try {
            sent = sender.publish(message).hash
        } catch (_: NodeException.NoPeers) {
            Thread.sleep(50) // The peer tells its topics some milliseconds after the connection.
        }
    }
    val received = receiver.receive(60_000u)
    check(received?.hash == sent) { "the message did not arrive" }
    println("${receiver.info().peerId} received ${received?.payload?.decodeToString()}")
    sender.stop()
    receiver.stop()
}
