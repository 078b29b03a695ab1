import type { Server } from 'node:http'

// A front end starts the wallet again, so a wallet without callers need not hold its key.
const idleMaxMs = 15 * 60 * 1000

/** Resolves when no front end has called for a while, or when the process is stopped. */
export function exitWhenIdle(server: Server, stopped: AbortSignal): Promise<void> {
  return new Promise((done) => {
    let timer = setTimeout(done, idleMaxMs)
    server.on('request', () => {
      clearTimeout(timer)
      timer = setTimeout(done, idleMaxMs)
    })
    stopped.addEventListener('abort', () => {
      clearTimeout(timer)
      done()
    })
  })
}
