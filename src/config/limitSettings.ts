import type { z } from 'zod'
import { wholeNumber } from './variables.ts'

/** Limits of one client that does not pay. 0: no limit. */
export interface LimitSettings {
  /** Requests of a client address that bought nothing. */
  readonly requestsPerMinute: number
  /** Unpaid quotes of a client address within the lifetime of a quote. */
  readonly quotesPerAddressMax: number
  /** Unpaid quotes of a wallet within the lifetime of a quote. */
  readonly quotesPerWalletMax: number
  /** Bytes of unpaid quotes of all callers within the lifetime of a quote. */
  readonly openQuotesBytesMax: number
  /** Proofs of a client address that the ledger does not know and the chain does not confirm. */
  readonly unknownProofsPerMinute: number
  readonly quoteTtlMs: number
}

// Generous: a program that pays for what it asks for never reaches them. 3,000 open quotes are 0.9 million a day, which is
// about 0.35 GB of storage a day for each address. A plain payment is matched with all quotes of its wallet for a day.
export const limitVariables = {
  RATE_LIMIT_PER_MINUTE: wholeNumber(0, 1_000_000, 6_000),
  QUOTES_PER_ADDRESS_MAX: wholeNumber(0, 10_000_000, 3_000),
  QUOTES_PER_WALLET_MAX: wholeNumber(0, 10_000_000, 300),
  // 18 GB a day at the lifetime of 5 minutes, which is what the alert on growth allows.
  OPEN_QUOTES_MEGABYTES: wholeNumber(0, 1_000_000, 64),
  UNKNOWN_PROOFS_PER_MINUTE: wholeNumber(0, 1_000_000, 300),
}

const bytesPerMegabyte = 1_000_000

type LimitEnvironment = z.infer<z.ZodObject<typeof limitVariables>> & { readonly QUOTE_TTL_SECONDS: number }

export function limitSettingsOf(env: LimitEnvironment): LimitSettings {
  return {
    requestsPerMinute: env.RATE_LIMIT_PER_MINUTE,
    quotesPerAddressMax: env.QUOTES_PER_ADDRESS_MAX,
    quotesPerWalletMax: env.QUOTES_PER_WALLET_MAX,
    openQuotesBytesMax: env.OPEN_QUOTES_MEGABYTES * bytesPerMegabyte,
    unknownProofsPerMinute: env.UNKNOWN_PROOFS_PER_MINUTE,
    quoteTtlMs: env.QUOTE_TTL_SECONDS * 1000,
  }
}
