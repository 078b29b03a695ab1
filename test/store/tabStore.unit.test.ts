import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { tabIdOf } from '@tollbook/core/tab'
import type { Item } from '@tollbook/ledger/item'
import type { RecordedEvent } from '@tollbook/ledger/port'
import { prepaidOn } from '../../src/accounting/account.ts'
import { decideFulfil } from '../../src/payment/attempt.ts'
import { decideFinality, decideUnmatched } from '../../src/payment/finality.ts'
import { evolveAll, type PaymentDecision, type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import { streamIdOf } from '../../src/payment/paymentReference.ts'
import { newLifecycle, type Tab } from '../../src/payment/tab.ts'
import { wholeDeposit } from '../../src/pricing/currentPrice.ts'
import { paymentItem } from '../../src/store/paymentItem.ts'
import { createTabStore } from '../../src/store/tabStore.ts'
import { heldClock } from '../jobs/jobFixture.ts'
import { mint, referenceNumber, settlementOf, wallet } from '../payment/paymentStory.ts'
import { claimOf } from './samplePayment.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

const unused = (): never => {
  throw new Error('this test reads no tab')
}
const kernel = { append: unused, read: unused, readMany: unused, drained: unused }
const todayMs = Date.UTC(2026, 10, 27)
const dayMs = 24 * 60 * 60 * 1000

function tabWith(deposits: readonly (readonly [baseUnits: bigint, effectiveAtMs: number])[]): Tab {
  const keys = { sessionKey: wallet, bearerHash: undefined }
  const limits = { maxPerRequestBaseUnits: 1n, maxPerDayBaseUnits: 1_000n, endsAtMs: 0 }
  return {
    ...keys,
    id: tabIdOf(new Uint8Array(64).fill(1)),
    wallet,
    mint,
    deposit: referenceNumber(0),
    evidence: { kind: 'solana', slot: 1, blockTimeMs: 0, transactionBase64: undefined },
    terms: { ...keys, ...limits },
    lifecycle: newLifecycle,
    deposits: deposits.map(([baseUnits, effectiveAtMs], index) => {
      return { reference: referenceNumber(index), baseUnits, effectiveAtMs, standing: 'final', lostBaseUnits: 0n }
    }),
  }
}

test('deposits of earlier days do not count as spent today, and those of today do not hide what was spent', async () => {
  const since: unknown[] = []
  const spent = (tab: Tab, tally: bigint) => {
    const database = scriptedDatabase((_statement, values) => {
      since.push(values.at(-1))
      return [{ amount: String(tally), deposits: tab.deposits.length }]
    })
    const store = createTabStore({ database, pool: { query: unused }, kernel, clock: heldClock })
    return store.spentTodayBaseUnits(tab, todayMs + dayMs - 1)
  }
  const yesterday = [500n, todayMs - 1] as const
  // The tally of the day is what was taken less what was deposited: 30 and 100.
  expect(await spent(tabWith([yesterday]), 30n)).toBe(30n)
  expect(await spent(tabWith([yesterday, [100n, todayMs]]), -70n)).toBe(30n)
  expect(since).toEqual([new Date(todayMs), new Date(todayMs)])
})

const tabId = tabIdOf(streamIdOf(referenceNumber(1)).subarray(1))

/** The events of a change, as the kernel returns them. */
function recorded({ events }: Item, from: number): readonly RecordedEvent[] {
  return events.map((event, index) => {
    const position = from + index + 1
    return { ...event, position, version: position, recordedAtMs: todayMs, leafHash: '' }
  })
}

type Decide = (state: PaymentState) => PaymentDecision | undefined

const becomesFinal: Decide = (state) => decideFinality(state, { kind: 'finalized', slot: 1 })

/** Events of a deposit of 100 base units, of which the first opened the tab, and of what became of it. */
function depositNumber(number: number, endings: readonly Decide[]): readonly RecordedEvent[] {
  const reference = referenceNumber(number)
  const { price } = settlementOf(reference)
  const ofDeposit = { ...price, requiredBaseUnits: 100n, ...wholeDeposit(100n) }
  const paid = { price: ofDeposit, burnedBaseUnits: 0n, receivedBaseUnits: 100n, memo: 'tollbook:x' }
  const settlement = settlementOf(reference, paid)
  const { change, attemptId } = claimOf(settlement)
  let before = evolveAll(unknownPayment, change.events, todayMs)
  const items = [paymentItem(change)]
  const terms = number === 1 ? tabWith([]).terms : undefined
  const command = { attemptId, orderDigest: 'ab'.repeat(32), answerDigest: 'cd', deposit: { tab: tabId, terms } }
  for (const decide of [(state: PaymentState) => decideFulfil(state, command), ...endings]) {
    const decision = assertPresent(decide(before), 'the step applies')
    items.push(paymentItem({ reference, before, ...decision, nowMs: todayMs }))
    before = evolveAll(before, decision.events, todayMs)
  }
  return items.reduce<readonly RecordedEvent[]>((all, item) => all.concat(recorded(item, all.length)), [])
}

/** A tab whose balance a test sets. Counts the readings of its deposits. */
function openStore(balances: readonly bigint[] = [100n], endings: readonly Decide[] = [becomesFinal]) {
  const left = [...balances]
  const deposits = [depositNumber(1, endings)]
  const state = { isRecorded: true, reads: 0, nowMs: 1, onBalance: () => undefined }
  let lifecycle: readonly RecordedEvent[] = []
  const steps: string[] = []
  const store = createTabStore({
    clock: { ...heldClock, monotonicMs: () => state.nowMs },
    database: scriptedDatabase(() => {
      state.reads += 1
      if (!state.isRecorded) return []
      return deposits.map((_, n) => ({ id: Buffer.from(streamIdOf(referenceNumber(n + 1))), is_first: n === 0 }))
    }),
    pool: {
      query: Object.assign(() => {
        state.onBalance()
        const balance = (left.length > 1 ? left.shift() : left[0]) ?? 0n
        return Promise.resolve({ rows: [{ mint, name: prepaidOn(tabId), balance: balance.toString() }] })
      }),
    },
    kernel: {
      ...kernel,
      readMany: () => Promise.resolve([...deposits, lifecycle]),
      append(item) {
        steps.push(item.step)
        lifecycle = [...lifecycle, ...recorded(item, lifecycle.length)]
        return Promise.resolve({ outcome: 'appended', recordedAtMs: todayMs, leaves: [] })
      },
    },
  })
  return { store, state, steps, deposits }
}

test('a tab is read once in two seconds, again after a change of it, and never remembered as missing', async () => {
  const { store, state } = openStore()
  state.isRecorded = false
  expect([await store.find(tabId), await store.find(tabId), state.reads]).toEqual([undefined, undefined, 2])
  state.isRecorded = true
  const tab = assertPresent(await store.find(tabId), 'the deposit is on record')
  expect(tab).toMatchObject({ id: tabId, wallet, mint, deposits: [{ baseUnits: 100n, standing: 'final' }] })
  expect(await store.find(tabId)).toBe(tab)
  expect(state.reads).toBe(3)
  expect(await store.replaceKeys(tab, { sessionKey: undefined, bearerHash: 'ef' }, todayMs)).toBe(true)
  const changed = assertPresent(await store.find(tabId), 'the tab stays on record')
  expect(changed).toMatchObject({ bearerHash: 'ef', sessionKey: undefined, lifecycle: { version: 1 } })
  expect([await store.findAgain(tab), state.reads], 'it was read again since').toEqual([changed, 4])
  expect([await store.findAgain(changed), state.reads]).toEqual([changed, 5])
  state.nowMs += 2_001
  await store.find(tabId)
  expect(state.reads).toBe(6)
})

test('a closing owes what the tab has, and what a hold returns meanwhile', async () => {
  const { store, steps } = openStore([70n, 30n, 0n])
  expect(await store.close(tabId, 'wallet', todayMs)).toEqual({ restBaseUnits: 100n, hasChanged: true })
  expect(steps).toEqual(['tab_lifecycle.close', 'tab_lifecycle.return'])
  const again = await store.close(tabId, 'wallet', todayMs)
  expect(again, 'the answer of the first closing may be lost').toEqual({ restBaseUnits: 100n, hasChanged: false })
})

test('a closing does not owe a deposit that arrives meanwhile, because the chain could still drop it', async () => {
  const { store, state, deposits } = openStore([170n])
  state.onBalance = () => void (deposits[1] = depositNumber(2, []))
  await store.close(tabId, 'wallet', todayMs)
  expect(await store.find(tabId)).toMatchObject({ lifecycle: { isClosed: true, owedBaseUnits: 0n } })
})

test('a deposit that the chain dropped and took again later stays dropped, and its tab is closed', async () => {
  const dropped = { kind: 'reversed', reason: 'absent', finalizedSlot: 2, prepaidBaseUnits: 30n } as const
  const received = { wallet, mint, receivedBaseUnits: 100n, slot: 9 }
  const endings: readonly Decide[] = [
    (state) => decideFinality(state, dropped),
    (state) => decideUnmatched(state, received),
  ]
  const { store, steps } = openStore([70n, 70n, 0n], endings)
  expect(await store.find(tabId)).toMatchObject({ deposits: [{ standing: 'reversed', lostBaseUnits: 70n }] })
  await store.close(tabId, 'end', todayMs)
  expect(steps).toEqual(['tab_lifecycle.close', 'tab_lifecycle.take_back'])
})
