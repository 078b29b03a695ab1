import { createServer } from 'node:net'

/*
 * Refuses every request at once without parsing it: `node decoyProcess.ts PORT`. Attacked instead of the service, it
 * shows what the attackers themselves take from a machine that they share with it. Any server spends more on them. The
 * end of stdin ends it.
 */
const body = '{"error":"refused","code":"OVERLOADED"}'
const lines = ['HTTP/1.1 503 Service Unavailable', 'content-type: application/json', `content-length: ${body.length}`]
const answer = [...lines, 'retry-after: 1', '', body].join('\r\n')
const backlog = 4_096
createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => undefined)
  // A client that does not read is not read either.
  socket.on('drain', () => void socket.resume())
  socket.on('data', (chunk) => {
    if (chunk.includes('\r\n\r\n') && !socket.write(answer)) socket.pause()
  })
}).listen(Number(process.argv[2]), '127.0.0.1', backlog)
process.stdin.resume().once('end', () => process.exit())
