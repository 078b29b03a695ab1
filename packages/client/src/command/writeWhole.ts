import { Writable } from 'node:stream'
import type { OutputStream } from './commandDeps.ts'

/** Rejects if the stream does not take the whole text, for example because the disk is full or the pipe is closed. */
export function writeWhole(stream: OutputStream, text: string): Promise<void> {
  if (!(stream instanceof Writable)) return Promise.resolve(void stream.write(text))
  // Ignore the event, because the write reports the same error. Without a listener, the event would end the process.
  stream.on('error', () => undefined)
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error === undefined || error === null ? resolve() : reject(error)))
  })
}
