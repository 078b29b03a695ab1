import { z } from 'zod'
import { complete, onOff, postgresUrl, variable } from './variables.ts'

/** Undefined: local mode starts an embedded Postgres. */
export const ledgerConfig = z
  .object({
    databaseUrl: variable('DATABASE_URL', postgresUrl),
    /** True: paid routes are closed while no synchronous standby is connected. */
    requiresStandby: variable('REQUIRE_SYNCHRONOUS_STANDBY', onOff('0')),
  })
  .transform(complete)

export type LedgerConfig = NonNullable<z.infer<typeof ledgerConfig>>
