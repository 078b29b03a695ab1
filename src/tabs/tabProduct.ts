import { z } from 'zod'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { decodeBase58 } from '@tollbook/core/base58'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { displayNumber, divideRoundingDown, parseRoundingDown, smaller } from '@tollbook/core/money'
import type { Price } from '@tollbook/core/quote'
import { type DepositLimits, readTabId, type TabId, tabIdOf, type TabTerms } from '@tollbook/core/tab'
import { readReference, streamIdOf } from '../payment/paymentReference.ts'
import type { TabLedger } from '../payment/tabLedger.ts'
import { usdDecimals } from '../pricing/priceList.ts'
import { baseUnitsMax } from '../pricing/tokenPrice.ts'
import type { Failure, Job, Value } from '../product/product.ts'
import { defineProduct, type ProductDefinition } from '../product/productDefinition.ts'
import { bounded, boundedInteger } from '../product/text.ts'

export const tabsPath = '/api/tabs'

/** The operator's limits on tabs, in millionths of a US dollar. */
export interface TabLimits {
  /** Bounds one deposit, and the balance of one tab. */
  readonly tabMaxMicroUsd: bigint
  readonly totalMaxMicroUsd: bigint
  /** Maximum of `maxPerDayUsd` for a tab with a bearer key. 0: bearer keys are not offered. */
  readonly bearerDayMaxMicroUsd: bigint
}

export interface TabProductDeps {
  readonly clock: Clock
  readonly tabs: Pick<TabLedger, 'find' | 'balanceBaseUnits'>
  readonly origin: string
  readonly pricesOf: (endpoint: string) => readonly Price[]
  readonly whyClosed: (microUsd: bigint) => string | undefined
}

// Each amount is a row of the price list, so that the audit verifies the price of a deposit like any other price.
const denominationsUsd = [1, 5, 10, 20]
const microUsdPerUsd = 1_000_000n
const microOf = (wholeUsd: number) => BigInt(wholeUsd) * microUsdPerUsd
const dayMs = 24 * 60 * 60 * 1000
const daysMax = 90
const daysByDefault = 30

const notSha256 = 'must be SHA-256 in hex'
const textOf = (expected: string, test: (text: string) => boolean) => z.string(expected).refine(test, expected)
const address = textOf('must be base58 of 32 bytes', (text) => readAddress(text) !== undefined)
const usd = bounded(0.000001, 1_000)

/** The terms of the tab are in the body of the purchase, so that the payment is bound to them. */
function parametersWith(denominations: readonly number[], { bearerDayMaxMicroUsd }: TabLimits) {
  const bearerDayMax = displayNumber(bearerDayMaxMicroUsd, usdDecimals)
  return z
    .strictObject({
      depositUsd: z
        .literal(denominations, `must be one of ${denominations.join(', ')}`)
        .default(denominations.includes(5) ? 5 : 1)
        .meta({ description: 'amount of the deposit in US dollars' }),
      sessionKey: address.exactOptional().meta({ description: 'Ed25519 key that signs debits; base58' }),
      bearerSha256: z
        .string(notSha256)
        .regex(/^[0-9a-f]{64}$/, notSha256)
        .exactOptional()
        .meta({ description: 'SHA-256 in hex of the 32 secret bytes of a bearer key' }),
      maxPerRequestUsd: usd
        .exactOptional()
        .meta({ description: 'most that one request may cost; default: the deposit' }),
      maxPerDayUsd: usd.exactOptional().meta({ description: 'most that all requests of a UTC day may cost' }),
      days: boundedInteger(1, daysMax)
        .exactOptional()
        .meta({ description: `days until the tab closes by itself; default: ${daysByDefault}` }),
      tab: textOf('must be the id of a tab', (text) => readTabId(text) !== undefined)
        .exactOptional()
        .meta({ description: 'tops up this tab instead of opening one; without terms' }),
    })
    .superRefine((order, context) => {
      const problem = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
      const { tab, sessionKey, bearerSha256, maxPerRequestUsd, maxPerDayUsd, days } = order
      const terms = [sessionKey, bearerSha256, maxPerRequestUsd, maxPerDayUsd, days]
      if (tab !== undefined && terms.some((each) => each !== undefined))
        problem('tab', 'must be sent without terms, because a tab keeps those of its opening')
      if (tab === undefined && sessionKey === undefined && bearerSha256 === undefined)
        problem('sessionKey', 'must be sent, because a deposit alone gives no access')
      if (bearerSha256 === undefined) return
      // A holder of the bearer key can spend up to the limit of the day, and no auditor can prove such a debit.
      if (bearerDayMax === 0) problem('bearerSha256', 'is not offered by this service; send a sessionKey')
      else if (maxPerDayUsd === undefined || maxPerDayUsd > bearerDayMax)
        problem('maxPerDayUsd', `must be at most ${bearerDayMax} with a bearer key`)
    })
}

type TabOrder = z.infer<ReturnType<typeof parametersWith>>

const amount = z.string().meta({ description: 'base units of the mint' })
const answer = z.object({
  tab: z.string(),
  deposit: z.string().meta({ description: 'signature of the deposit; it gives no access' }),
  wallet: z.string().meta({ description: 'wallet that gets the rest' }),
  mint: z.string(),
  origin: z.string().meta({ description: 'name of the ledger, which debits bind' }),
  depositBaseUnits: amount,
  balanceBaseUnits: amount,
  terms: z
    .object({
      sessionKey: z.string().nullable(),
      bearerSha256: z.string().nullable(),
      maxPerRequestBaseUnits: amount,
      maxPerDayBaseUnits: amount.nullable(),
      endsAt: z.string(),
    })
    .nullable()
    .meta({ description: 'null for a top-up' }),
  bearerPrefix: z.string().nullable().meta({ description: 'append the base64url of the 32 secret bytes' }),
})

const exampleId = '4uQeVj5tqViQh7yWWGStvk'

export function createTabProduct(limits: TabLimits): ProductDefinition<TabProductDeps> {
  const denominations = denominationsUsd.filter((each) => microOf(each) <= limits.tabMaxMicroUsd)
  const smallest = Math.min(...denominations)
  const sessionKey = '8tG3x5cVfLGcmfmN7nXrMVmYnW3wVKSTMnNcLEhNLFhP'
  return defineProduct({
    path: tabsPath,
    method: 'POST',
    summary: 'A tab: one deposit pays for many requests, and the rest is returned',
    priceMicroUsd: microOf(denominations.includes(5) ? 5 : 1),
    variants: denominations.map((each) => ({ name: String(each), priceMicroUsd: microOf(each) })),
    isDeposit: true,
    parameters: parametersWith(denominations, limits),
    answer,
    example: {
      order: { depositUsd: 5, sessionKey },
      answer: {
        tab: exampleId,
        deposit: '5x…',
        wallet: '9x…',
        mint: 'So…',
        origin: 'tollbook/9x…',
        depositBaseUnits: '5000000',
        balanceBaseUnits: '5000000',
        terms: {
          sessionKey,
          bearerSha256: null,
          maxPerRequestBaseUnits: '5000000',
          maxPerDayBaseUnits: null,
          endsAt: '2026-12-26T12:00:00.000Z',
        },
        bearerPrefix: null,
      },
    },
    providers: [],
    demo: {
      order: () => ({ depositUsd: 1, sessionKey }),
      check: ({ tab, balanceBaseUnits }) => `tab ${tab} with ${balanceBaseUnits} base units`,
    },
    open: (deps: TabProductDeps) => ({
      whyUnavailable: (order?: TabOrder) => deps.whyClosed(microOf(order?.depositUsd ?? smallest)),
      // Only new deposits stop while the wallets hold too little, not those that are already paid.
      whyUndeliverable: () => undefined,
      variant: ({ depositUsd }: TabOrder) => String(depositUsd),
      async deliver(order: TabOrder, { price, ...job }) {
        const paid = { ...job, price: assertPresent(price, 'a deposit has a price'), limits }
        return order.tab === undefined ? openTab(deps, order, paid) : topUp(deps, order.tab, paid)
      },
    }),
  })
}

type PaidJob = Pick<Job, 'payment' | 'payer'> & { readonly price: Price; readonly limits: TabLimits }

function openTab({ clock, origin, pricesOf }: TabProductDeps, order: TabOrder, job: PaidJob): Value {
  const { payment, payer, price } = job
  const { sessionKey, bearerSha256, maxPerRequestUsd, maxPerDayUsd, days = daysByDefault } = order
  const id = streamIdOf(assertPresent(readReference(payment), 'a deposit is a payment')).subarray(1)
  const tab = tabIdOf(id)
  const wallet = assertPresent(readAddress(payer), 'a payer is a wallet')
  const nowMs = clock.nowMs()
  const terms: TabTerms = {
    sessionKey: sessionKey === undefined ? undefined : readAddress(sessionKey),
    bearerHash: bearerSha256,
    maxPerRequestBaseUnits:
      maxPerRequestUsd === undefined ? price.requiredBaseUnits : inBaseUnits(maxPerRequestUsd, price),
    maxPerDayBaseUnits: maxPerDayUsd === undefined ? undefined : inBaseUnits(maxPerDayUsd, price),
    endsAtMs: nowMs + days * dayMs,
  }
  const walletBytes = assertPresent(decodeBase58(wallet, 32), 'a wallet has 32 bytes')
  // The bearer key contains tab and wallet, so that the rail reads the payer from the header alone.
  const prefix = `tbt_${Buffer.concat([id.subarray(0, 16), walletBytes]).toString('base64url')}`
  return {
    kind: 'delivered',
    data: {
      ...factsOf(tab, job),
      origin,
      balanceBaseUnits: price.requiredBaseUnits.toString(),
      terms: {
        sessionKey: sessionKey ?? null,
        bearerSha256: bearerSha256 ?? null,
        maxPerRequestBaseUnits: terms.maxPerRequestBaseUnits.toString(),
        maxPerDayBaseUnits: terms.maxPerDayBaseUnits?.toString() ?? null,
        endsAt: isoTime(terms.endsAtMs),
      },
      bearerPrefix: bearerSha256 === undefined ? null : prefix,
    },
    meta: { source: 'tollbook', asOf: isoTime(nowMs), cached: false },
    deposit: { tab, terms, limits: limitsAt(pricesOf, job) },
  }
}

function factsOf(tab: TabId, { payment, payer, price }: PaidJob) {
  const [, signature = ''] = payment.split(':')
  const { mint, requiredBaseUnits } = price
  return { tab, deposit: signature, wallet: payer, mint, depositBaseUnits: requiredBaseUnits.toString() }
}

/**
 * Converts dollars at the token price of the deposit, and rounds down, so that a limit is never exceeded. The result is
 * at most 2^64 - 1, because an event with a larger amount could not be read.
 */
function inBaseUnits(dollars: number, price: Price): bigint {
  const microUsd = assertPresent(parseRoundingDown(String(dollars), usdDecimals), 'the schema takes positive numbers')
  const convertedBaseUnits = microUsdInBaseUnits(microUsd, price)
  return smaller(convertedBaseUnits, baseUnitsMax)
}

function microUsdInBaseUnits(microUsd: bigint, { requiredBaseUnits, priceMicroUsd }: Price): bigint {
  return divideRoundingDown(microUsd * requiredBaseUnits, priceMicroUsd)
}

/**
 * Converts the operator's limits at the token price of the deposit. The ledger enforces them when it appends the
 * deposit, so that concurrent deposits cannot exceed them.
 */
function limitsAt(
  pricesOf: TabProductDeps['pricesOf'],
  { price, limits: { tabMaxMicroUsd, totalMaxMicroUsd } }: PaidJob,
): DepositLimits {
  const others = pricesOf(price.endpoint).filter(({ mint }) => mint !== price.mint)
  return {
    tabBaseUnits: microUsdInBaseUnits(tabMaxMicroUsd, price),
    allBaseUnits: microUsdInBaseUnits(totalMaxMicroUsd, price),
    prices: [price, ...others],
  }
}

/** A refused top-up ends its payment, which is then owed back, because a second attempt would be refused too. */
async function topUp(deps: TabProductDeps, id: TabId, job: PaidJob): Promise<Value | Failure> {
  const tab = await deps.tabs.find(id)
  const nowMs = deps.clock.nowMs()
  const isOpen = tab !== undefined && !tab.lifecycle.isClosed && nowMs < tab.terms.endsAtMs
  const ended = { kind: 'failed', code: 'NO_DATA', endsPayment: true } as const
  if (!isOpen || tab.wallet !== job.payer) return { ...ended, message: 'this wallet has no open tab with that id' }
  // The limits, the balance and the rest of a tab are in the mint of its first deposit.
  if (tab.mint !== job.price.mint)
    return { ...ended, message: `the tab holds the mint ${tab.mint}, and the deposit is in ${job.price.mint}` }
  const balanceBaseUnits = (await deps.tabs.balanceBaseUnits(tab)) + job.price.requiredBaseUnits
  return {
    kind: 'delivered',
    data: {
      ...factsOf(id, job),
      origin: deps.origin,
      balanceBaseUnits: balanceBaseUnits.toString(),
      terms: null,
      bearerPrefix: null,
    },
    meta: { source: 'tollbook', asOf: isoTime(nowMs), cached: false },
    deposit: { tab: id, terms: undefined, limits: limitsAt(deps.pricesOf, job) },
  }
}
