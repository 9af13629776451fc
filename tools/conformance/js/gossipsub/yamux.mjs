// One end of a connection with the yamux of @chainsafe/libp2p-yamux alone, for `mux-windows`:
//   node yamux.mjs listen
//   node yamux.mjs dial PORT MESSAGES BYTES PAUSE_MS
import net from 'node:net'
import { defaultLogger } from '@libp2p/logger'
import { yamux } from '@chainsafe/libp2p-yamux'
// Not exported by the package; a transport would bring security and negotiation along, which hide the frames.
import { toMultiaddrConnection } from './node_modules/@libp2p/tcp/dist/src/socket-to-conn.js'

const HELLO_BYTES = 16

const muxerOn = (socket, direction) => {
  socket.setNoDelay(true)
  const log = defaultLogger().forComponent('mux-windows')
  const connection = toMultiaddrConnection({ socket, direction, log })
  const muxer = yamux()().createStreamMuxer(connection)
  return muxer
}

const listen = () => {
  const server = net.createServer((socket) => {
    const muxer = muxerOn(socket, 'inbound')
    muxer.addEventListener('stream', ({ detail: stream }) => {
      let seen = 0
      stream.addEventListener('message', ({ data }) => {
        const wasGreeted = seen >= HELLO_BYTES
        seen += data.byteLength
        if (!wasGreeted && seen >= HELLO_BYTES) {
          stream.send(new Uint8Array(HELLO_BYTES))
        }
      })
    })
  })
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))
}

const drained = (stream) => new Promise((resolve) => stream.addEventListener('drain', resolve, { once: true }))
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const dial = async (port, messages, bytes, pauseMs) => {
  const socket = net.connect(port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  const muxer = muxerOn(socket, 'outbound')
  const stream = await muxer.createStream()
  const greeted = new Promise((resolve) => stream.addEventListener('message', resolve, { once: true }))
  stream.send(new Uint8Array(HELLO_BYTES))
  await greeted
  for (let message = 0; message < messages; message++) {
    await pause(pauseMs)
    if (!stream.send(new Uint8Array(bytes))) {
      await drained(stream)
    }
  }
  await pause(pauseMs)
  process.exit(0)
}

const [role, ...rest] = process.argv.slice(2)
if (role === 'listen') {
  listen()
} else {
  await dial(...rest.map(Number))
}
