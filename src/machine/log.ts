import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'

/** Log of structured lines for operators. A line has an event name and fields, and must not contain bodies or secrets. */
export type Log = Logger

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export interface LogOptions {
  readonly level: LogLevel
  readonly name: string
  readonly destination?: DestinationStream
}

export function createLog(options: LogOptions): Log {
  const settings = {
    name: options.name,
    level: options.level,
    // Redact secrets too, in case a line contains one by mistake.
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
