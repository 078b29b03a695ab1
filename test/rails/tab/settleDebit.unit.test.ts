import { expect, test } from 'vitest'
import { isRefusal } from '@tollbook/core/refusal'
import { tabIdOf } from '@tollbook/core/tab'
import type { Tab } from '../../../src/payment/tab.ts'
import { newLifecycle } from '../../../src/payment/tab.ts'
import { tabRequestReference } from '../../../src/payment/paymentReference.ts'
import { settleDebit } from '../../../src/rails/tab/settleDebit.ts'
import type { TabProof } from '../../../src/rails/tab/tabProof.ts'
import { order, otherWallet, referenceNumber, settlementOf, wallet } from '../../payment/paymentStory.ts'

const nowMs = 1_790_000_000_000
const minuteMs = 60_000
const id = tabIdOf(new Uint8Array(16).fill(1))
const { price, evidence } = settlementOf(referenceNumber(1))
const keys = { sessionKey: otherWallet, bearerHash: undefined }
const terms = { ...keys, maxPerRequestBaseUnits: 10n ** 9n, maxPerDayBaseUnits: undefined, endsAtMs: nowMs + minuteMs }
const facts = { id, wallet, mint: price.mint, deposit: referenceNumber(1), evidence, terms, deposits: [] }
const tab: Tab = { ...facts, ...keys, lifecycle: newLifecycle }

interface Presented {
  readonly validUntilMs?: number
  readonly found?: Tab | undefined
  readonly by?: typeof wallet
  /** The tab as it is read again. */
  readonly now?: Tab
}

/** Presents a debit with a valid signature. Returns the reason of the refusal, or `held`. */
async function present({ validUntilMs = nowMs, found = tab, by = wallet, now = found }: Presented, isOnRecord = true) {
  const signed = { tab: id, number: 1n, maxBaseUnits: 10n ** 9n, validUntilMs, signature: new Uint8Array(64) }
  const reference = tabRequestReference(id, 1n)
  const sent = { requestDigest: new Uint8Array(32), maxMicroUsd: undefined, secretHash: undefined }
  const proof: TabProof = { reference, tab: id, number: 1n, ...sent, signed }
  const find = () => Promise.resolve(isOnRecord ? found : undefined)
  const deps = {
    clock: { nowMs: () => nowMs, monotonicMs: () => 0, sleep: () => Promise.resolve() },
    tabs: { find, findAgain: () => Promise.resolve(now), spentTodayBaseUnits: () => Promise.resolve(0n) },
    origin: 'ledger',
    currentPrice: () => ({ ...price, priceList: 1 }),
    verify: (sessionKey: string) => Promise.resolve(sessionKey === otherWallet),
  }
  const payment = { phase: 'unknown', version: 0 } as const
  const question = { proof, order: { ...order, wallet: by }, payment }
  const settled = await settleDebit(deps, question)
  return isRefusal(settled) ? settled.reason : 'held'
}

test.each([
  [-1, 'tab_debit_expired'],
  [0, 'held'],
  [10 * minuteMs, 'held'],
  [10 * minuteMs + 1, 'tab_debit_expired'],
])('a debit that is valid for %i ms more is %s', async (validMs, outcome) => {
  expect(await present({ validUntilMs: nowMs + validMs })).toBe(outcome)
})

test('a debit of a tab that is not on record, of another wallet, or of an ended tab holds nothing', async () => {
  expect(await present({}, false)).toBe('tab_unknown')
  expect(await present({ by: otherWallet })).toBe('other_wallet')
  expect(await present({ found: { ...tab, terms: { ...terms, endsAtMs: nowMs } } })).toBe('tab_closed')
  expect(await present({ found: { ...tab, terms: { ...terms, endsAtMs: nowMs + 1 } } })).toBe('held')
})

test('a key that was replaced a moment ago holds nothing, and the key that replaced it does at once', async () => {
  const replaced = { ...newLifecycle, version: 1 }
  const other = { ...tab, sessionKey: wallet }
  expect(await present({ found: other })).toBe('tab_signature_invalid')
  expect(await present({ found: other, now: { ...tab, lifecycle: replaced } })).toBe('held')
  expect(await present({ found: other, now: { ...other, lifecycle: replaced } })).toBe('tab_signature_invalid')
})
