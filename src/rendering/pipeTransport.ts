import { Buffer } from 'node:buffer'
import type { ConnectionTransport } from 'puppeteer'
import type { BrowserProcess } from './browserProcess.ts'

/** Creates a transport over the pipes of a browser. Each message is a JSON text that ends with a zero byte. */
export function createPipeTransport({
  commands,
  answers,
}: Pick<BrowserProcess, 'commands' | 'answers'>): ConnectionTransport {
  const transport: ConnectionTransport = {
    send(message) {
      commands.write(`${message}\0`)
    },
    // Closing the pipe ends the browser.
    close() {
      commands.end()
      answers.destroy()
    },
  }
  const read = splitMessages()
  // Deliver one message per turn of the event loop, as a WebSocket does, because Puppeteer relies on this.
  answers.on('data', (bytes: Buffer) => {
    for (const message of read(bytes)) setImmediate(() => transport.onmessage?.(message))
  })
  answers.once('close', () => setImmediate(() => transport.onclose?.()))
  return transport
}

/**
 * Returns a function that splits bytes into messages. Keeps the chunks of an unfinished message in a list, because a
 * screenshot is one message of several megabytes.
 */
function splitMessages(): (bytes: Buffer) => readonly string[] {
  let unfinished: Buffer[] = []
  return (bytes) => {
    const messages: string[] = []
    let start = 0
    for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, start)) {
      messages.push(Buffer.concat([...unfinished, bytes.subarray(start, end)]).toString('utf8'))
      unfinished = []
      start = end + 1
    }
    if (start < bytes.length) unfinished.push(bytes.subarray(start))
    return messages
  }
}
