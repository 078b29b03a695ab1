import { type Refusal, refuse } from '@tollbook/core/refusal'
import { createClientLimit } from './networkLimit.ts'
import { createRateLimit, type RateLimit, type RateStanding, sharedCountsOf } from './rateLimit.ts'

/** 0 switches a limit off. docs/operations.md has the table. */
export interface CallerLimitConfig {
  /** Per client address. Requests that led to a payment do not count. */
  readonly requestsPerMinute: number
  readonly quotesPerAddressMax: number
  readonly quotesPerWalletMax: number
  /**
   * Bytes of the unpaid quotes of all callers together, within the lifetime of a quote. Beyond these bytes, each client
   * address gets only a few quotes.
   */
  readonly openQuotesBytesMax: number
  /** Per client address: proofs that are neither in the ledger nor confirmed by the chain. */
  readonly unknownProofsPerMinute: number
  readonly quoteTtlMs: number
}

export interface CallerLimitDeps {
  readonly nowMs: () => number
  readonly onLimited: (limit: string) => void
}

export type Pass = ReturnType<typeof enter>
export type CallerLimits = ReturnType<typeof createCallerLimits>

const minuteMs = 60_000
// Quotes per client address for a wallet whose limit strangers have used up.
const quotesBesideMax = 10
// Quotes per client address after all callers together have used up the bytes.
const quotesBeyondMax = 10
// Row, index entries and part of the write-ahead log. The bytes are bounded, because many addresses at their other
// limits could fill the disk.
const bytesPerQuote = 900
const everyone = 'all'

/**
 * Creates the limits of callers. All instances share the counts, except those of `beside` and `beyond`. A limit with
 * maximum 0 is off.
 */
export function createCallerLimits(config: CallerLimitConfig, deps: CallerLimitDeps) {
  const { quoteTtlMs } = config
  const limit = (name: string, max: number, windowMs: number) => createRateLimit({ name, max, windowMs }, deps.nowMs)
  const clientLimit = (name: string, max: number, windowMs: number) =>
    createClientLimit({ name, max, windowMs }, deps.nowMs)
  const openMax = Math.ceil(config.openQuotesBytesMax / bytesPerQuote)
  const limits: Limits = {
    requests: clientLimit('requests', config.requestsPerMinute, minuteMs),
    quotes: clientLimit('quotes', config.quotesPerAddressMax, quoteTtlMs),
    open: limit('open-quotes', openMax, quoteTtlMs),
    beyond: clientLimit('open-quotes-beyond', openMax === 0 ? 0 : quotesBeyondMax, quoteTtlMs),
    wallets: limit('wallet-quotes', config.quotesPerWalletMax, quoteTtlMs),
    beside: limit('wallet-quotes-beside', config.quotesPerWalletMax === 0 ? 0 : quotesBesideMax, quoteTtlMs),
    proofs: clientLimit('unknown-proofs', config.unknownProofsPerMinute, minuteMs),
  }
  const shared = [limits.requests, limits.quotes, limits.open, limits.wallets, limits.proofs]
  return {
    /** Counts a request. It may continue unless the result has `refused`. */
    enter: (address: string) => enter(limits, deps.onLimited, address),
    ...sharedCountsOf(shared),
  }
}

type Limits = Readonly<Record<'requests' | 'quotes' | 'open' | 'beyond' | 'wallets' | 'beside' | 'proofs', RateLimit>>

function enter(limits: Limits, onLimited: CallerLimitDeps['onLimited'], address: string) {
  const taken: Taken[] = []
  const take = (limit: RateLimit, client: string): RateStanding => {
    const standing = limit.take(client)
    if (limit.rule.max > 0) taken.push({ limit, client, standing })
    return standing
  }
  const refuseBeyond = (limit: RateLimit, { retryAfterSeconds }: RateStanding, what: string): Refusal => {
    onLimited(limit.rule.name)
    return refuse('RATE_LIMITED', `${what}; repeat the request in ${retryAfterSeconds} s`, retryAfterSeconds)
  }
  const takeWalletQuote = (payer: string): Refusal | undefined => {
    const ofWallet = take(limits.wallets, payer)
    if (ofWallet.isAllowed || limits.beside.take(`${address} ${payer}`).isAllowed) return undefined
    return refuseBeyond(limits.wallets, ofWallet, 'this wallet has too many unpaid quotes')
  }
  const takeOpenQuote = (): Refusal | undefined => {
    const ofAll = limits.open.take(everyone)
    if (ofAll.isAllowed || limits.beyond.take(address).isAllowed) return undefined
    return refuseBeyond(limits.open, ofAll, 'all callers together have too many unpaid quotes; pay one of yours')
  }
  const requested = take(limits.requests, address)
  let looked: RateStanding | undefined
  return {
    refused: requested.isAllowed
      ? undefined
      : refuseBeyond(limits.requests, requested, 'too many requests from this client address'),
    /** Called before a quote is stored. The payer is unverified, because a stranger can send the address of any wallet. */
    limitQuotes(payer: string | undefined): Refusal | undefined {
      const ofAddress = take(limits.quotes, address)
      if (!ofAddress.isAllowed)
        return refuseBeyond(limits.quotes, ofAddress, 'this client address has too many unpaid quotes; pay one of them')
      // A quote without a payer is not stored, so the limits of the wallet and of all callers do not apply.
      return payer === undefined ? undefined : (takeWalletQuote(payer) ?? takeOpenQuote())
    },
    /**
     * Called before the chain is queried for a proof that is not in the ledger. Repeated calls for the same request
     * count once.
     */
    limitLookups(): Refusal | undefined {
      looked ??= take(limits.proofs, address)
      if (looked.isAllowed) return undefined
      const what = 'too many unknown proofs from this client address; this proof was not checked and stays valid'
      return refuseBeyond(limits.proofs, looked, what)
    },
    /** Called at the first claim of the payment. Takes back the counts of this purchase. */
    onPaid(payer: string, isQuoted: boolean): void {
      for (const { limit, client } of taken) limit.giveBack(client)
      // Also take back the counts of the paid quote and the request that created it.
      limits.requests.giveBack(address)
      limits.quotes.giveBack(address)
      // Otherwise the debits of tabs, which need no quotes, would raise the bound on the quotes of all callers.
      if (!isQuoted) return
      limits.open.giveBack(everyone)
      limits.beyond.giveBack(address)
      limits.wallets.giveBack(payer)
      limits.beside.giveBack(`${address} ${payer}`)
    },
    headers: () => headersOf(taken),
  }
}

interface Taken {
  readonly limit: RateLimit
  readonly client: string
  readonly standing: RateStanding
}

/** Returns headers in the format of draft-ietf-httpapi-ratelimit-headers. */
function headersOf(taken: readonly Taken[]): Readonly<Record<string, string>> {
  if (taken.length === 0) return {}
  const policies = taken.map(
    ({ limit: { rule } }) => `"${rule.name}";q=${rule.max};w=${Math.round(rule.windowMs / 1000)}`,
  )
  const standings = taken.map(
    ({ limit, standing }) => `"${limit.rule.name}";r=${standing.remaining};t=${standing.resetSeconds}`,
  )
  return { 'ratelimit-policy': policies.join(', '), ratelimit: standings.join(', ') }
}
