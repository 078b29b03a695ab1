import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'

/** Structured lines for operators: an event name and fields. No bodies, no secrets, no built sentences. */
export type Log = Logger

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export interface LogOptions {
  readonly level: LogLevel
  readonly name: string
  readonly destination?: DestinationStream
}

/** One line of JSON for each entry, on standard output unless a destination is given. */
export function createLog(options: LogOptions): Log {
  const settings = {
    name: options.name,
    level: options.level,
    // A second net below the rule that nothing secret is logged.
    redact: {
      paths: ['*.secret', '*.password', '*.proof', '*.authorization', 'secret', 'proof'],
      censor: '[redacted]',
    },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: stdTimeFunctions.isoTime,
  }
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination)
}

export const silentLog: Log = pino({ level: 'silent' })
