import { type Refusal, refuse } from '@tollbook/core/refusal'
import { createClientLimit } from './networkLimit.ts'
import { createRateLimit, type RateLimit, type RateReport, type RateTotal, type RateStanding } from './rateLimit.ts'

/** 0 switches a limit off. docs/operations.md has the table. */
export interface CallerLimitConfig {
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

export interface CallerLimitDeps {
  readonly nowMs: () => number
  readonly onLimited: (limit: string) => void
}

/** Limits of one client address or wallet, counted over all instances. */
export interface CallerLimits {
  /** Counts a request of a client address; it may go on unless it is refused. */
  enter(address: string): Pass
  reports(): readonly RateReport[]
  restore(reports: readonly RateReport[]): void
  learn(totals: readonly RateTotal[]): void
}

/** One request within the limits. */
export interface Pass {
  readonly refused: Refusal | undefined
  /** Called before a quote is stored. The payer is a claim: a stranger may name any wallet. */
  limitQuotes(payer: string | undefined): Refusal | undefined
  /** Called before a proof that the ledger does not know costs a lookup on the chain. Counts once, however often it is called. */
  limitLookups(): Refusal | undefined
  /** The payment is claimed for the first time, so nothing of this purchase counts. */
  onPaid(payer: string): void
  /** RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers) of the limits that counted this request. */
  headers(): Readonly<Record<string, string>>
}

const minuteMs = 60_000
// Quotes that a wallet still gets at each client address, after strangers have used up its limit.
const quotesBesideMax = 10
// Quotes that a client address still gets after all callers together have used up their bytes. One who pays has fewer open.
const quotesBeyondMax = 10
// A row with its indexes and its part of the write-ahead log: 64 addresses at their limits made 49 GB a day.
const bytesPerQuote = 900
const everyone = 'all'

/** A limit whose maximum is 0 is off. */
export function createCallerLimits(config: CallerLimitConfig, deps: CallerLimitDeps): CallerLimits {
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
    enter: (address) => enter(limits, deps.onLimited, address),
    reports: () => shared.flatMap((each) => each.reports()),
    restore(reports) {
      for (const each of shared) each.restore(reports)
    },
    learn(totals) {
      for (const each of shared) each.learn(totals)
    },
  }
}

type Limits = Readonly<Record<'requests' | 'quotes' | 'open' | 'beyond' | 'wallets' | 'beside' | 'proofs', RateLimit>>

function enter(limits: Limits, onLimited: CallerLimitDeps['onLimited'], address: string): Pass {
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
    limitQuotes(payer) {
      const ofAddress = take(limits.quotes, address)
      if (!ofAddress.isAllowed)
        return refuseBeyond(limits.quotes, ofAddress, 'this client address has too many unpaid quotes; pay one of them')
      // A quote without a payer is not stored.
      return payer === undefined ? undefined : (takeWalletQuote(payer) ?? takeOpenQuote())
    },
    limitLookups() {
      looked ??= take(limits.proofs, address)
      if (looked.isAllowed) return undefined
      const what = 'too many unknown proofs from this client address; this proof was not checked and stays valid'
      return refuseBeyond(limits.proofs, looked, what)
    },
    onPaid(payer) {
      for (const { limit, client } of taken) limit.giveBack(client)
      // The quote that this request has paid, and the request that asked for it.
      limits.requests.giveBack(address)
      limits.quotes.giveBack(address)
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
