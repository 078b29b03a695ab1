import { isDeepStrictEqual } from 'node:util'
import type { PriceListPublished } from '../payment/events/settingEvents.ts'
import type { Price } from '@tollbook/core/quote'
import { type MarketPolicy, agree, type MarketReading } from '../pricing/agreement.ts'
import { forgetUnconfirmedJump, judgeMove, type MarketMemory, noMemory } from '../pricing/jumpGuard.ts'
import { isWorthPublishing } from '../pricing/republish.ts'
import { type TokenPriceAttoUsd, tokenPriceDecimals } from '../pricing/tokenPrice.ts'
import { Fault } from '@tollbook/core/fault'
import { formatDecimal } from '@tollbook/core/money'
import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface PriceJob extends Repeated {
  problem(): string | undefined
  /** Undefined before a price is recorded, or if the markets have not confirmed it for too long. */
  inForce(): PriceInForce | undefined
  /** The answers of the markets so far, with which a new job for other products continues. */
  heard(): MarketsHeard
}

export interface MarketsHeard {
  readonly memory: MarketMemory
  readonly agreed: AgreedPrice | undefined
}

export interface PriceInForce {
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly prices: readonly Price[]
  readonly priceList: number
  /** Time at which the markets last agreed on the price. */
  readonly agreedAtMs: number
  readonly readings: readonly MarketReading[]
}

/**
 * `ask` never throws, so that one silent market does not hide the answers of the others. It returns a missing reading
 * instead.
 */
export interface PriceSource {
  ask(): Promise<MarketReading | MissingReading>
}

export interface MissingReading {
  readonly source: string
  readonly why: string
}

export interface PricePolicy extends MarketPolicy {
  /** Maximum age of a quoted price in milliseconds, counted from the last agreement of the markets. */
  readonly ageMaxMs: number
}

export interface PriceJobDeps extends RepeatDeps {
  readonly sources: readonly PriceSource[]
  /** Returns a text if a product cannot be sold at this token price. */
  readonly pricesAt: (tokenPriceAttoUsd: TokenPriceAttoUsd) => readonly Price[] | string
  /** Parts of the price lists that do not depend on the token price: splits, and prices by use. */
  readonly listed: Pick<PriceListPublished, 'split' | 'dollarSplits' | 'metered'>
  readonly priceLists: {
    newest(): Promise<
      { readonly number: number; readonly effectiveAtMs: number; readonly list: PriceListPublished } | undefined
    >
    /** False if another instance has published a list after `newestNumber`. */
    append(list: PriceListPublished, newestNumber: number): Promise<boolean>
  }
}

/**
 * Source in the price lists of this job. A list of an operator has another source, so that this job does not continue
 * from a fixed price.
 */
const marketSource = 'market'

// Maximum interval between polls: four requests a minute to each market. Jupiter allows thirty without a key, so seven
// instances may share an address.
const everyMsMax = 15_000
// Polls within the lifetime of a price, so that two polls in a row may fail before a price with a short lifetime
// expires.
const pollsPerAge = 3

interface State {
  memory: MarketMemory
  /**
   * The last agreement of the markets. `inForce` is the recorded price, which is within the tolerance of this
   * agreement.
   */
  agreed: AgreedPrice | undefined
  inForce: (PriceInForce & { readonly confirmedAtMs: number }) | undefined
  trouble: string | undefined
}

/**
 * Queries the markets on a schedule and never for a caller, so that no caller can choose the time of a price. Resolves
 * after the first poll, even if the poll failed. A job that replaces an earlier job continues from its readings, and
 * throws if it has no usable price. Silent markets then do not end the sale, and a sudden jump of the price is not
 * accepted.
 */
export async function startPriceJob(
  policy: PricePolicy,
  deps: PriceJobDeps,
  { memory, agreed }: MarketsHeard = { memory: noMemory, agreed: undefined },
): Promise<PriceJob> {
  const state: State = { memory, agreed: undefined, inForce: undefined, trouble: undefined }
  if (agreed === undefined) await poll(policy, deps, state)
  else {
    await confirm(policy, deps, { state, agreed })
    // Throw, so that the earlier job continues. Its prices can still be paid.
    if (state.inForce === undefined) throw new Fault(state.trouble ?? 'no price was recorded', { retryable: false })
  }
  const everyMs = Math.min(everyMsMax, policy.ageMaxMs / pollsPerAge)
  const problem = () => problemOf(policy, deps.clock.monotonicMs(), state)
  const task = repeat(deps, { name: 'price', everyMs, run: () => poll(policy, deps, state) })
  return {
    problem,
    inForce: () => (problem() === undefined ? state.inForce : undefined),
    heard: () => ({ memory: state.memory, agreed: problem() === undefined ? state.agreed : undefined }),
    stop: () => task.stop(),
  }
}

function problemOf({ ageMaxMs }: PricePolicy, atMs: number, { inForce, trouble }: State): string | undefined {
  if (inForce === undefined) return trouble ?? 'the markets have not agreed on a price yet'
  const ageMs = atMs - inForce.confirmedAtMs
  if (ageMs <= ageMaxMs) return undefined
  const age = `the price was last confirmed ${Math.round(ageMs / 1000)} s ago`
  return trouble === undefined ? age : `${age}: ${trouble}`
}

async function poll(policy: PricePolicy, deps: PriceJobDeps, state: State): Promise<void> {
  const heard = await Promise.all(deps.sources.map((source) => source.ask()))
  const readings = heard.filter((said) => 'tokenPriceAttoUsd' in said)
  const silent = heard.filter((said) => 'why' in said)
  const agreement = agree(readings, policy)
  if (agreement.kind === 'none') {
    state.memory = forgetUnconfirmedJump(state.memory)
    remember(deps, state, `${agreement.why} (${[...readings.map(describe), ...silent.map(describe)].join(', ')})`)
    return
  }
  const { tokenPriceAttoUsd } = agreement
  const { memory, isBelieved } = judgeMove(state.memory, { tokenPriceAttoUsd, atMs: deps.clock.monotonicMs() })
  state.memory = memory
  if (!isBelieved) {
    remember(deps, state, 'the price has jumped, and the next poll has to confirm it')
    return
  }
  try {
    const evidence = { agreedAtMs: deps.clock.nowMs(), tokenPriceAttoUsd, readings, silent }
    await confirm(policy, deps, { state, agreed: { evidence, confirmedAtMs: deps.clock.monotonicMs() } })
  } catch (error) {
    remember(deps, state, 'the ledger did not take the price list')
    throw error
  }
}

function describe(said: MarketReading | MissingReading): string {
  if ('why' in said) return `${said.source}: ${said.why}`
  const { source, tokenPriceAttoUsd, liquidityUsd } = said
  const price = formatDecimal(tokenPriceAttoUsd, tokenPriceDecimals)
  return `${source}: ${price} USD, liquidity ${liquidityUsd ?? 'unknown'}`
}

function remember({ log }: PriceJobDeps, state: State, trouble: string | undefined): void {
  if (trouble !== state.trouble) log.warn({ event: 'market_price_unconfirmed', problem: trouble ?? 'none' })
  state.trouble = trouble
}

interface AgreedPrice {
  readonly evidence: {
    readonly agreedAtMs: number
    readonly tokenPriceAttoUsd: TokenPriceAttoUsd
    readonly readings: readonly MarketReading[]
    readonly silent: readonly MissingReading[]
  }
  /**
   * The time of the agreement on the monotonic clock, because a change of the system's clock must not change the age of
   * the price.
   */
  readonly confirmedAtMs: number
}

// Maximum of tries. Two instances may publish at the same time. The append of the slower instance is then refused, and
// this instance reads the recorded list again.
const triesMax = 5

/**
 * Uses the newest recorded list if it comes from the markets, has the same products, dollar prices and splits, and its
 * token price is near enough. Otherwise records a new list and then uses the new list. No list is used if a product
 * cannot be sold at the agreed price.
 */
async function confirm(
  { tolerancePercent }: PricePolicy,
  deps: PriceJobDeps,
  { state, agreed }: { readonly state: State; readonly agreed: AgreedPrice },
): Promise<void> {
  const { evidence } = agreed
  const prices = deps.pricesAt(evidence.tokenPriceAttoUsd)
  if (typeof prices === 'string') {
    state.inForce = undefined
    remember(deps, state, prices)
    return
  }
  for (let tries = 1; tries <= triesMax; tries++) {
    const newest = await deps.priceLists.newest()
    const listedAttoUsd = newest === undefined ? undefined : priceOfList(deps, newest.list)
    const listedAgeMs = deps.clock.nowMs() - (newest?.effectiveAtMs ?? 0)
    const stands =
      newest !== undefined &&
      listedAttoUsd !== undefined &&
      !isWorthPublishing({
        tolerancePercent,
        listedAttoUsd,
        listedAgeMs,
        marketAttoUsd: evidence.tokenPriceAttoUsd,
      })
    if (stands) {
      const { number, list } = newest
      const recorded = { tokenPriceAttoUsd: listedAttoUsd, prices: list.prices, priceList: number }
      return putInForce(deps, state, { agreed, recorded })
    }
    const list: PriceListPublished = {
      kind: 'PriceListPublished',
      source: marketSource,
      ...deps.listed,
      prices,
      evidence,
    }
    const newestNumber = newest?.number ?? 0
    if (await deps.priceLists.append(list, newestNumber)) {
      const { tokenPriceAttoUsd } = evidence
      deps.log.info({ event: 'price_list_published', tokenPriceAttoUsd: tokenPriceAttoUsd.toString() })
      return putInForce(deps, state, { agreed, recorded: { tokenPriceAttoUsd, prices, priceList: newestNumber + 1 } })
    }
  }
  remember(deps, state, 'other instances publish prices all the time')
}

/**
 * Returns the token price of a list. Undefined if this job must not use the list: an operator fixed it, or its token or
 * its prices in dollars differ.
 */
function priceOfList({ pricesAt, listed }: PriceJobDeps, list: PriceListPublished) {
  const priceAttoUsd = list.prices[0]?.tokenPriceAttoUsd
  const { kind: _kind, source, prices, evidence: _evidence, ...facts } = list
  if (source !== marketSource || priceAttoUsd === undefined || !isDeepStrictEqual(facts, listed)) return undefined
  return isDeepStrictEqual(pricesAt(priceAttoUsd), prices) ? priceAttoUsd : undefined
}

interface RecordedPrice {
  readonly agreed: AgreedPrice
  readonly recorded: Pick<PriceInForce, 'tokenPriceAttoUsd' | 'prices' | 'priceList'>
}

function putInForce(deps: PriceJobDeps, state: State, { agreed, recorded }: RecordedPrice): void {
  const { agreedAtMs, readings } = agreed.evidence
  state.agreed = agreed
  state.inForce = { agreedAtMs, readings, ...recorded, confirmedAtMs: agreed.confirmedAtMs }
  remember(deps, state, undefined)
}
