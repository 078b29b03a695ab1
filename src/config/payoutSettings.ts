import type { z } from 'zod'
import { postgresUrl, solanaAddress } from './variables.ts'

/** For `tollbook payout` only; the service reads none of it. */
export interface PayoutSettings {
  /** A login of `tollbook_payout`, never the service's. */
  readonly databaseUrl: string | undefined
  readonly providerWallet: string | undefined
  readonly holdersWallet: string | undefined
  readonly treasuryWallet: string | undefined
}

export const payoutVariables = {
  PAYOUT_DATABASE_URL: postgresUrl,
  PAYOUT_PROVIDER_WALLET: solanaAddress,
  PAYOUT_HOLDERS_WALLET: solanaAddress,
  PAYOUT_TREASURY_WALLET: solanaAddress,
}

export function payoutSettingsOf(env: z.infer<z.ZodObject<typeof payoutVariables>>): PayoutSettings {
  return {
    databaseUrl: env.PAYOUT_DATABASE_URL,
    providerWallet: env.PAYOUT_PROVIDER_WALLET,
    holdersWallet: env.PAYOUT_HOLDERS_WALLET,
    treasuryWallet: env.PAYOUT_TREASURY_WALLET,
  }
}
