import type { ChildProcess } from 'node:child_process'
import { type EventEmitter, once } from 'node:events'

/**
 * The arguments of the next event. Throws when the process ends before: a process that cannot start must fail its test
 * at once, because nothing else ends the wait.
 */
export async function onceAlive(child: ChildProcess, event: string, emitter: EventEmitter = child): Promise<unknown[]> {
  const heard = new AbortController()
  const ended = async () => {
    const [code, signal] = await once(child, 'exit', { signal: heard.signal })
    throw new Error(`the process ended with ${String(code ?? signal)} before its event "${event}"`)
  }
  try {
    return await Promise.race([once(emitter, event, { signal: heard.signal }), ended()])
  } finally {
    heard.abort()
  }
}
