import type { z } from 'zod'
import { onOff, postgresUrl, wholeNumber } from './variables.ts'

/** The database of the ledger. */
export interface LedgerSettings {
  /** The service's login. */
  readonly databaseUrl: string
  /** Paid routes close while no synchronous standby is attached. */
  readonly requiresStandby: boolean
  /** Time for which the answer to a bound payment may be sent again after it was sent. */
  readonly answerRepeatMs: number
  readonly quoteRetention: {
    /** Login of a member of `tollbook_retention`; the service's own login by default. */
    readonly databaseUrl: string
    readonly days: number
  }
}

// A payment may need its quote for 60 hours (migrations/functions/quote_retention.sql).
const quoteRetentionDays = 3
const answerRepeatSeconds = 120

export const ledgerVariables = {
  DATABASE_URL: postgresUrl,
  REQUIRE_SYNCHRONOUS_STANDBY: onOff('0'),
  ANSWER_REPEAT_SECONDS: wholeNumber(0, 3_600, answerRepeatSeconds),
  RETENTION_DATABASE_URL: postgresUrl,
  QUOTE_RETENTION_DAYS: wholeNumber(quoteRetentionDays, 365, quoteRetentionDays),
}

/** The settings of a database that local mode has started. */
export function ledgerSettingsFor(databaseUrl: string): LedgerSettings {
  const quoteRetention = { databaseUrl, days: quoteRetentionDays }
  return { databaseUrl, requiresStandby: false, answerRepeatMs: answerRepeatSeconds * 1000, quoteRetention }
}

/** Undefined: local mode starts an embedded Postgres. */
export function ledgerSettingsOf(env: z.infer<z.ZodObject<typeof ledgerVariables>>): LedgerSettings | undefined {
  const { DATABASE_URL: databaseUrl, REQUIRE_SYNCHRONOUS_STANDBY: requiresStandby } = env
  if (databaseUrl === undefined) return undefined
  const quoteRetention = { databaseUrl: env.RETENTION_DATABASE_URL ?? databaseUrl, days: env.QUOTE_RETENTION_DAYS }
  return { databaseUrl, requiresStandby, answerRepeatMs: env.ANSWER_REPEAT_SECONDS * 1000, quoteRetention }
}
