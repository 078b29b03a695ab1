import type { Writable } from 'node:stream'
import { isoTime, systemClock } from '@tollbook/core/clock'

type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal'

/** `message` is the name of the event, unless the fields contain it. */
type WriteEvent = (fields: object, message?: string) => void

/** A pino logger has this type. The embedded Postgres uses it too. */
export type Log = Readonly<Record<Level, WriteEvent>>

/** Creates a log with one JSON object per line, for a chain in a separate process. */
export function createLineLog(name: string, destination: Writable): Log {
  const writeAt =
    (level: Level): WriteEvent =>
    (fields, message) => {
      const line = { level, time: isoTime(systemClock.nowMs()), name, ...fields, msg: message }
      destination.write(`${JSON.stringify(line)}\n`)
    }
  return atEachLevel(writeAt)
}

export const silentLog: Log = atEachLevel(() => () => undefined)

function atEachLevel(writeAt: (level: Level) => WriteEvent): Log {
  return {
    debug: writeAt('debug'),
    info: writeAt('info'),
    warn: writeAt('warn'),
    error: writeAt('error'),
    fatal: writeAt('fatal'),
  }
}
