import type { z } from 'zod'
import { onOff, postgresUrl } from './variables.ts'

/** The database of the ledger. */
export interface LedgerSettings {
  /** The service's login. */
  readonly databaseUrl: string
  /** Paid routes close while no synchronous standby is attached. */
  readonly requiresStandby: boolean
}

export const ledgerVariables = {
  DATABASE_URL: postgresUrl,
  REQUIRE_SYNCHRONOUS_STANDBY: onOff('0'),
}

/** Undefined: local mode starts an embedded Postgres. */
export function ledgerSettingsOf(env: z.infer<z.ZodObject<typeof ledgerVariables>>): LedgerSettings | undefined {
  const { DATABASE_URL: databaseUrl, REQUIRE_SYNCHRONOUS_STANDBY: requiresStandby } = env
  return databaseUrl === undefined ? undefined : { databaseUrl, requiresStandby }
}
