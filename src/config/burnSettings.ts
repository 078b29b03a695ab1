import type { z } from 'zod'
import { daySeconds, filePath, postgresUrl, wholeNumber } from './variables.ts'

/** For `tollbook burn` only; the service reads none of it. */
export interface BurnSettings {
  /** A login of `tollbook_burner`, never the service's. */
  readonly databaseUrl: string | undefined
  /** Key pair of the delegate that burns. */
  readonly keypairFile: string | undefined
  readonly everyMs: number
}

export const burnVariables = {
  BURN_DATABASE_URL: postgresUrl,
  BURN_KEYPAIR: filePath,
  BURN_EVERY_SECONDS: wholeNumber(1, daySeconds, 3_600),
}

export function burnSettingsOf(env: z.infer<z.ZodObject<typeof burnVariables>>): BurnSettings {
  return {
    databaseUrl: env.BURN_DATABASE_URL,
    keypairFile: env.BURN_KEYPAIR,
    everyMs: env.BURN_EVERY_SECONDS * 1_000,
  }
}
