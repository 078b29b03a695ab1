import { sign } from 'node:crypto'
import { assert, assertPresent } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import { toBase64Url, toHex } from '@tollbook/core/bytes'
import { systemClock } from '@tollbook/core/clock'
import { newId, randomBytesOf } from '@tollbook/core/id'
import { plainPrice, type Price } from '@tollbook/core/quote'
import { isRefusal } from '@tollbook/core/refusal'
import { debitMessage, type TabId, tabIdOf, tabTermsHash } from '@tollbook/core/tab'
import { decideBreak, decideClaim, decideFulfil, decideRelease, decideStart } from '../../src/payment/attempt.ts'
import type { PriceListPublished } from '../../src/payment/events/settingEvents.ts'
import { decideExpiry, decideFinality } from '../../src/payment/finality.ts'
import { type PaymentDecision, type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import { type PaymentReference, streamIdOf, tabRequestReference } from '../../src/payment/paymentReference.ts'
import { depositSplit, type DebitSettlement } from '../../src/payment/tabSettlement.ts'
import { chargeWithin, priceWithin } from '../../src/paywall/chargeByUse.ts'
import { split } from '../../src/pricing/split.ts'
import { defaultSplit, type SplitShare } from '../../src/pricing/splitSetting.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { type PayingWallet, signedSettlement } from '../audit/signedPayment.ts'
import { mustAppend } from '../store/instance.ts'
import { samplePrice } from '../store/samplePayment.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { newSessionKey, type SessionKey } from '../tabs/tabClient.ts'

/* Tabs with every outcome of a deposit and of a debit, recorded as the rails and the jobs record them. */

const tokenPriceAttoUsd = 10n ** 15n
const priced = (endpoint: string, priceMicroUsd: bigint) => ({
  ...samplePrice(endpoint, priceMicroUsd * 1_000n),
  priceMicroUsd,
  tokenPriceAttoUsd,
})

const depositPrice: Price = {
  ...priced('/api/tabs#5', 5_000_000n),
  ...split(5_000_000_000n, depositSplit),
}
const fixedPrice = priced('/api/tools/qrcode', 50_000n)
const chatPrice = priced('/api/ai/chat', 40_000n)
const metered = {
  endpoint: chatPrice.endpoint,
  inputPerMillionMicroUsd: 1_000_000n,
  outputPerMillionMicroUsd: 4_000_000n,
  minimumMicroUsd: 500n,
}

/** Prices of deposits and of what tabs pay for, for a price list. */
export const tabPrices = [depositPrice, fixedPrice, chatPrice]
export const tabMetered = [metered]
export const tabPriceList: PriceListPublished = {
  kind: 'PriceListPublished',
  source: 'fixed',
  split: defaultSplit,
  prices: tabPrices,
  metered: tabMetered,
}

export const tabAmounts = {
  deposit: depositPrice.requiredBaseUnits,
  fixed: fixedPrice.requiredBaseUnits,
  /** Cost of `usage`. */
  metered: 9_000_000n,
}
const usage = { input: 1_000, output: 2_000, isEstimated: false }

/** Prices of one mint, and the split of its charges. */
export interface TabPrices {
  readonly deposit: Price
  readonly fixed: Price
  readonly chat: Price
  readonly split: readonly SplitShare[]
}

const inToken: TabPrices = { deposit: depositPrice, fixed: fixedPrice, chat: chatPrice, split: defaultSplit }

export interface TabsQuestion {
  readonly payer: PayingWallet
  /** Name of the ledger, which debits bind. */
  readonly origin: string
  readonly priceList?: number
  /** Time of all that happens. Default: now. */
  readonly nowMs?: number
  /** Default: those in the service token. */
  readonly prices?: TabPrices
}

interface Deposited {
  readonly reference: PaymentReference
  readonly tab: TabId
  readonly state: PaymentState
}

export interface RecordedTabs {
  readonly busy: TabId
  readonly closed: TabId
  readonly dropped: TabId
}

/** Records three tabs: one in use, one that was closed while it served, and one whose deposit the chain dropped. */
export async function recordTabs(ledger: Ledger, question: TabsQuestion): Promise<RecordedTabs> {
  const recorder = openRecorder(ledger, question)
  return {
    busy: await recordBusyTab(recorder),
    closed: await recordClosedTab(recorder),
    dropped: await recordDropped(recorder),
  }
}

/** Records a tab in dollars: fixed and metered prices, a smaller hold, and a request that failed. */
export async function recordDollarTab(ledger: Ledger, question: TabsQuestion): Promise<TabId> {
  const { prices = inToken, priceList = 1 } = question
  const recorder = openRecorder(ledger, question)
  const key = newSessionKey()
  const { tab } = await recorder.deposit({ key })
  await recorder.capture(await recorder.hold(tab, { number: 1n, key }))
  await recorder.capture(await recorder.hold(tab, { number: 2n, key, price: prices.chat }))
  const listed = { ...prices.chat, priceList }
  const smaller = assertPresent(priceWithin(listed, { price: metered, split: prices.split }, 12_345n), 'a smaller hold')
  await recorder.capture(await recorder.hold(tab, { number: 3n, key, price: plainPrice(smaller) }))
  await recorder.release(await recorder.hold(tab, { number: 4n, key }))
  return tab
}

type Recorder = ReturnType<typeof openRecorder>

export function openRecorder(
  ledger: Ledger,
  { payer, origin, priceList = 1, nowMs = systemClock.nowMs(), prices = inToken }: TabsQuestion,
) {
  const add = async (reference: PaymentReference, before: PaymentState, decision: PaymentDecision | undefined) => {
    const decided = assertPresent(decision, 'the stream is in a state for it')
    return (await mustAppend(ledger, { reference, before, ...decided, nowMs })).after
  }
  return {
    ledger,
    nowMs,
    add,
    /** Opens a tab, or tops one up. */
    async deposit(terms: { readonly key?: SessionKey; readonly bearerHash?: string }, tab?: TabId): Promise<Deposited> {
      const settlement = signedSettlement(payer, {
        price: prices.deposit,
        priceList,
        memo: `tollbook:${toBase64Url(randomBytesOf(32))}`,
        burnedBaseUnits: 0n,
        receivedBaseUnits: prices.deposit.requiredBaseUnits,
        blockTimeMs: Math.floor(nowMs / 1000) * 1000,
      })
      const { reference } = settlement
      const attemptId = newId('attempt')
      const order = { wallet: settlement.wallet, endpoint: prices.deposit.endpoint, digest: 'ab'.repeat(32) }
      const command = { order, settlement, attemptId, leaseMs: 60_000, attemptsMax: 10, nowMs }
      const claimed = await add(reference, unknownPayment, decisionOf(decideClaim(unknownPayment, command)))
      const opened = tab ?? tabIdOf(streamIdOf(reference).subarray(1))
      const limits = { maxPerRequestBaseUnits: 100_000_000n, maxPerDayBaseUnits: undefined }
      const { key, bearerHash } = terms
      const ends = { endsAtMs: nowMs + 86_400_000 * 30 }
      const deposit = {
        tab: opened,
        terms: tab === undefined ? { sessionKey: key?.address, bearerHash, ...limits, ...ends } : undefined,
      }
      const digests = { orderDigest: order.digest, answerDigest: 'cd'.repeat(32) }
      const state = await add(reference, claimed, decideFulfil(claimed, { attemptId, ...digests, deposit }))
      return { reference, tab: opened, state }
    },
    /** Holds a price. */
    async hold(tab: TabId, debit: Debit): Promise<Held> {
      const { number, price = prices.fixed, leaseMs = 60_000, before = unknownPayment } = debit
      const known = assertPresent(await ledger.tabs.find(tab), 'a deposit opened the tab')
      const signed =
        debit.key === undefined ? undefined : signedBy(debit.key, { tab, number, origin, mint: known.mint, nowMs })
      const reference = tabRequestReference(tab, number)
      const orderDigest = '12'.repeat(32)
      const { deposit, evidence, lifecycle, wallet } = known
      const bearerHash = signed === undefined ? known.bearerHash : undefined
      const settlement: DebitSettlement = {
        reference,
        wallet,
        price,
        priceList,
        quoteId: undefined,
        memo: undefined,
        burnedBaseUnits: 0n,
        receivedBaseUnits: price.requiredBaseUnits,
        evidence: { ...evidence, transactionBase64: undefined },
        debit: { tab, number, deposit, signed, bearerHash, lifecycle: lifecycle.version, orderDigest },
      }
      const attemptId = newId('attempt')
      const order = { wallet, endpoint: price.endpoint, digest: orderDigest }
      const command = { order, settlement, attemptId, leaseMs, attemptsMax: 10, nowMs }
      const state = await add(reference, before, decisionOf(decideClaim(before, command)))
      return { reference, attemptId, orderDigest, price, state }
    },
    async capture({ reference, attemptId, orderDigest, price, state }: Held): Promise<void> {
      const digests = { orderDigest, answerDigest: 'cd'.repeat(32) }
      const byUse =
        price.endpoint === prices.chat.endpoint
          ? { usage, charged: chargeWithin(price, { price: metered, split: prices.split }, usage) }
          : {}
      await add(reference, state, decideFulfil(state, { attemptId, ...digests, ...byUse }))
    },
    release: ({ reference, attemptId, state }: Held) =>
      add(reference, state, decideRelease(state, { attemptId, reason: 'upstream_failed', attemptsMax: 10 })),
  }
}

interface Debit {
  readonly number: bigint
  /** Absent: the bearer key debits. */
  readonly key?: SessionKey
  readonly price?: Price
  readonly leaseMs?: number
  readonly before?: PaymentState
}

interface Held {
  readonly reference: PaymentReference
  readonly attemptId: string
  readonly orderDigest: string
  readonly price: Price
  readonly state: PaymentState
}

async function recordBusyTab(recorder: Recorder): Promise<TabId> {
  const { ledger, add, nowMs } = recorder
  const key = newSessionKey()
  const { tab, reference, state: opened } = await recorder.deposit({ key })
  await add(reference, opened, decideFinality(opened, { kind: 'finalized', slot: 1_000 }))
  for (const number of [1n, 2n]) await recorder.capture(await recorder.hold(tab, { number, key }))
  for (const number of [3n, 4n]) await recorder.capture(await recorder.hold(tab, { number, key, price: chatPrice }))
  const failed = await recorder.hold(tab, { number: 5n, key })
  const before = await recorder.release(failed)
  await recorder.capture(await recorder.hold(tab, { number: 5n, key, before }))
  const streamed = await recorder.hold(tab, { number: 6n, key })
  const { attemptId, state } = streamed
  const started = await add(streamed.reference, state, decideStart(state, attemptId))
  const broken = { attemptId, bytes: 12, digest: 'ef'.repeat(32), attemptsMax: 10 }
  await add(streamed.reference, started, decideBreak(started, broken))
  const dead = await recorder.hold(tab, { number: 7n, key, leaseMs: 1 })
  await awaitThat('the lease of a millisecond has ended', () => hasEnded(dead.state))
  const expiry = decideExpiry(dead.state, { nowMs: systemClock.nowMs() + 60_000, attemptsMax: 10 })
  await add(dead.reference, dead.state, expiry)
  await recorder.deposit({}, tab)
  const fresh = newSessionKey()
  const known = assertPresent(await ledger.tabs.find(tab), 'the tab is open')
  await ledger.tabs.replaceKeys(known, { sessionKey: fresh.address, bearerHash: undefined }, nowMs)
  await recorder.capture(await recorder.hold(tab, { number: 8n, key: fresh }))
  await recorder.hold(tab, { number: 9n, key: fresh })
  return tab
}

// The clock of the database is the one of this machine.
function hasEnded(state: PaymentState): boolean {
  assert('leaseUntilMs' in state, 'an attempt is live')
  return systemClock.nowMs() > state.leaseUntilMs + 1
}

/** Closed by its wallet while a request is served, whose hold is returned afterwards. */
async function recordClosedTab(recorder: Recorder): Promise<TabId> {
  const { ledger, nowMs } = recorder
  const keys = { key: newSessionKey(), bearerHash: toHex(randomBytesOf(32)) }
  const { tab, reference, state } = await recorder.deposit(keys)
  await recorder.add(reference, state, decideFinality(state, { kind: 'finalized', slot: 1_000 }))
  await recorder.capture(await recorder.hold(tab, { number: 2n ** 63n + 1n }))
  const served = await recorder.hold(tab, { number: 2n ** 63n + 2n })
  await ledger.tabs.close(tab, 'wallet', nowMs)
  await recorder.release(served)
  await ledger.tabs.close(tab, 'end', nowMs)
  return tab
}

async function recordDropped(recorder: Recorder): Promise<TabId> {
  const key = newSessionKey()
  const { tab, reference, state } = await recorder.deposit({ key })
  await recorder.capture(await recorder.hold(tab, { number: 1n, key }))
  await recorder.ledger.tabs.close(tab, 'reversal', recorder.nowMs)
  const prepaidBaseUnits = tabAmounts.deposit - tabAmounts.fixed
  const verdict = { kind: 'reversed', reason: 'absent', finalizedSlot: 2_000, prepaidBaseUnits } as const
  await recorder.add(reference, state, decideFinality(state, verdict))
  return tab
}

interface Signing {
  readonly tab: TabId
  readonly number: bigint
  readonly origin: string
  readonly mint: Address
  readonly nowMs: number
}

function signedBy({ address: sessionKey, privateKey }: SessionKey, { tab, number, origin, mint, nowMs }: Signing) {
  const requestDigest = randomBytesOf(32)
  const debit = { tab, number, maxBaseUnits: 60_000_000n, validUntilMs: nowMs + 60_000 }
  const message = debitMessage(debit, tabTermsHash({ origin, mint, sessionKey }), requestDigest)
  const { maxBaseUnits, validUntilMs } = debit
  const signature = toBase64Url(sign(undefined, message, privateKey))
  return { sessionKey, maxBaseUnits, validUntilMs, requestDigest: toHex(requestDigest), signature }
}

function decisionOf(decided: ReturnType<typeof decideClaim>): PaymentDecision {
  assert(!isRefusal(decided), 'the claim is not refused')
  return decided
}
