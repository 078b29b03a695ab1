import { expect, test } from 'vitest'
import { type FinalityDeps, noFinalityMemory, recordFinality } from '../../src/jobs/finalityJob.ts'
import { statusesMax } from '../../src/payment/finalityReader.ts'
import { Fault } from '@tollbook/core/fault'
import { tabIdOf } from '@tollbook/core/tab'
import { wholeDeposit } from '../../src/pricing/currentPrice.ts'
import type { Reversal } from '../../src/payment/finalityReader.ts'
import type { PaymentState } from '../../src/payment/payment.ts'
import { settlementOf } from '../payment/paymentStory.ts'
import { transactionReference } from '../../src/payment/paymentReference.ts'
import type { TransactionRecord } from '../../src/payment/transactionRecord.ts'
import { silentLog } from '../../src/machine/log.ts'
import { heldClock, lifecycleWith, signatureNumber } from './jobFixture.ts'

const unused = (): never => {
  throw new Error('no payment of this test is decided')
}

test('a round asks for every open payment, page by page', async () => {
  const count = 2 * statusesMax + 5
  const open = Array.from({ length: count }, (_, n) => ({
    reference: transactionReference(signatureNumber(n + 1)),
    // All of one moment: the position decides where a page goes on.
    createdAtMs: 1_000,
    position: n + 1,
  }))
  const asked: string[] = []
  await recordFinality(
    {
      clock: heldClock,
      log: silentLog,
      onStep: unused,
      tabs: { close: unused },
      payments: { append: unused },
      lifecycle: lifecycleWith({
        findOpen({ after }, max) {
          return Promise.resolve(open.filter(({ position }) => position > (after?.position ?? 0)).slice(0, max))
        },
        loadPayments: () => Promise.resolve(new Map()),
      }),
      chain: {
        findStatuses({ signatures }) {
          asked.push(...signatures)
          const status = { slot: 1, isFinalized: false, hasFailed: false }
          return Promise.resolve({ statuses: signatures.map(() => status) })
        },
        finalizedSlot: unused,
        findReversal: unused,
        findFinalized: unused,
        listSignatures: unused,
        readTransaction: unused,
      },
      allTerms: unused,
    },
    noFinalityMemory(),
  )
  expect(asked).toHaveLength(count)
  expect(new Set(asked).size).toBe(count)
})

/** Open work of fulfilled payments whose transactions every node lacks. `findReversal` judges them by number. */
function openDroppedPayments(
  count: number,
  findReversal: (number: number) => Promise<Reversal | undefined>,
  monotonicMs: () => number = () => 0,
) {
  const signatures = Array.from({ length: count }, (_, index) => signatureNumber(index + 1))
  const open = signatures.map((signature, index) => ({
    reference: transactionReference(signature),
    createdAtMs: 1_000,
    position: index + 1,
  }))
  const reversed: number[] = []
  const memory = noFinalityMemory()
  const round = (replaced: (deps: FinalityDeps) => FinalityDeps = (deps) => deps) =>
    recordFinality(
      replaced({
        clock: { ...heldClock, monotonicMs },
        log: silentLog,
        onStep: () => undefined,
        tabs: { close: unused },
        payments: {
          append({ reference, before }) {
            reversed.push(open.findIndex((each) => each.reference === reference) + 1)
            return Promise.resolve({ outcome: 'appended', after: before, recordedAtMs: 0, leaves: [] })
          },
        },
        lifecycle: lifecycleWith({
          findOpen({ after }, max) {
            return Promise.resolve(open.filter(({ position }) => position > (after?.position ?? 0)).slice(0, max))
          },
          loadPayments: (references) => Promise.resolve(new Map(references.map((each) => [each, fulfilled(each)]))),
        }),
        chain: {
          findStatuses: ({ signatures: asked }) => Promise.resolve({ statuses: asked.map(() => undefined) }),
          finalizedSlot: unused,
          findReversal: ({ signature }) => findReversal(signatures.indexOf(signature) + 1),
          findFinalized: unused,
          listSignatures: unused,
          readTransaction: unused,
        },
        allTerms: unused,
      }),
      memory,
    )
  return { round, reversed }
}

function fulfilled(reference: ReturnType<typeof transactionReference>): PaymentState {
  const settlement = settlementOf(reference)
  const { endpoint } = settlement.price
  return { phase: 'fulfilled', version: 5, settlement, attempt: 1, endpoint, isFinal: false }
}

const failedOnChain: Reversal = { reason: 'failed', finalizedSlot: 500, nodes: 2 }

test('a status from the disk of a node is that of the payment that its memory lacks', async () => {
  const { round, reversed } = openDroppedPayments(2, () => Promise.resolve(undefined))
  const remembered = signatureNumber(1)
  const { slot } = settlementOf(transactionReference(remembered)).evidence
  const status = (isKnown: boolean) => (isKnown ? { slot, isFinalized: true, hasFailed: false } : undefined)
  await round(({ chain, ...deps }) => ({
    ...deps,
    chain: {
      ...chain,
      findStatuses: ({ signatures }) =>
        Promise.resolve({ statuses: signatures.map((signature) => status(signature === remembered)) }),
    },
  }))
  expect(reversed, 'recorded').toEqual([1])
})

test('a payment that no node can judge does not keep those behind it from their verdict', async () => {
  const { round, reversed } = openDroppedPayments(statusesMax + 1, (number) =>
    number === 1
      ? Promise.reject(new Fault('the node has no history', { retryable: true }))
      : Promise.resolve(number === 2 || number === statusesMax + 1 ? failedOnChain : undefined),
  )
  await expect(round()).rejects.toThrow('the node has no history')
  expect(reversed).toEqual([2, statusesMax + 1])
})

test.each([undefined, { slot: 100, isFinalized: true, hasFailed: false }])(
  'a payment whose events cannot be decoded does not keep the others from their verdict (status %o)',
  async (status) => {
    const { round, reversed: decided } = openDroppedPayments(3, () => Promise.resolve(failedOnChain))
    const damaged = transactionReference(signatureNumber(2))
    const damagedRound = round((deps) => ({
      ...deps,
      chain: {
        ...deps.chain,
        findStatuses: ({ signatures }) => Promise.resolve({ statuses: signatures.map(() => status) }),
      },
      lifecycle: {
        ...deps.lifecycle,
        loadPayments: () =>
          Promise.resolve({
            get(reference) {
              if (reference === damaged) throw new Error('it cannot be decoded')
              return fulfilled(reference)
            },
          }),
      },
    }))
    await expect(damagedRound).rejects.toThrow('it cannot be decoded')
    expect(decided).toEqual([1, 3])
  },
)

test('of more doubtful payments than a round judges each gets its turn, although the first ones stay doubtful', async () => {
  const { round, reversed } = openDroppedPayments(70, (number) =>
    Promise.resolve(number > 64 ? failedOnChain : undefined),
  )
  for (let count = 1; count <= 2; count++) await round()
  expect(reversed.toSorted((one, other) => one - other)).toEqual([65, 66, 67, 68, 69, 70])
})

test('an absence counts from the last sight of the payment, and only after ten seconds', async () => {
  const absent: Reversal = { reason: 'absent', finalizedSlot: 500, nodes: 2 }
  let [nowMs, isSeen] = [0, false]
  const { round, reversed } = openDroppedPayments(
    1,
    () => Promise.resolve(isSeen ? undefined : absent),
    () => nowMs,
  )
  const look = async (atSeconds: number, found: boolean) => {
    nowMs = atSeconds * 1_000
    isSeen = found
    await round()
    return reversed.length
  }
  expect(await look(0, false)).toBe(0)
  expect(await look(5, true)).toBe(0)
  expect(await look(11, false), 'absent for 11 s, with a sight in between').toBe(0)
  expect(await look(20.999, false)).toBe(0)
  expect(await look(21, false)).toBe(1)
})

test('a dropped deposit takes back what its tab holds after it was closed', async () => {
  const { round } = openDroppedPayments(1, () => Promise.resolve(failedOnChain))
  const events: unknown[] = []
  let isClosed = false
  await round((deps) => ({
    ...deps,
    tabs: { close: () => Promise.resolve(void (isClosed = true)) },
    payments: {
      append(change) {
        events.push(...change.events)
        return deps.payments.append(change)
      },
    },
    lifecycle: {
      ...deps.lifecycle,
      // A debit of 30 was recorded just before the tab was closed.
      prepaidBaseUnits: () => Promise.resolve(isClosed ? 70n : 100n),
      loadPayments: (references) =>
        Promise.resolve(new Map(references.map((each) => [each, openingDeposit(each)] as const))),
    },
  }))
  expect(events).toMatchObject([
    { kind: 'PaymentReversed' },
    { kind: 'DepositReversed', takenBackBaseUnits: 70n, spentBaseUnits: 30n },
  ])
})

function openingDeposit(reference: ReturnType<typeof transactionReference>): PaymentState {
  const { price } = settlementOf(reference)
  const shares = wholeDeposit(100n)
  const settlement = settlementOf(reference, {
    price: { ...price, requiredBaseUnits: 100n, ...shares },
    burnedBaseUnits: 0n,
    receivedBaseUnits: 100n,
  })
  const tab = tabIdOf(new Uint8Array(64).fill(1))
  return { phase: 'fulfilled', version: 4, settlement, attempt: 1, endpoint: '/api/tabs', isFinal: false, tab }
}

test('a deposit that becomes final leaves its tab open', async () => {
  const { round } = openDroppedPayments(1, () => Promise.resolve(failedOnChain))
  const events: unknown[] = []
  const status = { slot: 100, isFinalized: true, hasFailed: false }
  await round((deps) => ({
    ...deps,
    chain: { ...deps.chain, findStatuses: () => Promise.resolve({ statuses: [status] }) },
    payments: {
      append(change) {
        events.push(...change.events)
        return deps.payments.append(change)
      },
    },
    lifecycle: {
      ...deps.lifecycle,
      loadPayments: (references) =>
        Promise.resolve(new Map(references.map((each) => [each, openingDeposit(each)] as const))),
    },
  }))
  expect(events).toMatchObject([{ kind: 'PaymentFinalized', slot: 100 }])
})

test('a payment that landed again in another slot is final there only while it pays the same', async () => {
  const asked: unknown[] = []
  const finalizedAt = async (slot: number, record: TransactionRecord | undefined) => {
    const { round } = openDroppedPayments(1, () => Promise.resolve(failedOnChain))
    const steps: string[] = []
    const status = { slot, isFinalized: true, hasFailed: false }
    await round((deps) => ({
      ...deps,
      allTerms: () => [],
      chain: {
        ...deps.chain,
        findStatuses: () => Promise.resolve({ statuses: [status] }),
        findFinalized: () => Promise.resolve(record),
        findReversal: (question) => {
          asked.push(question.slot)
          return Promise.resolve(failedOnChain)
        },
      },
      payments: {
        append(change) {
          steps.push(change.step)
          return deps.payments.append(change)
        },
      },
    }))
    return steps
  }
  // The settlement is of slot 100.
  expect(await finalizedAt(100, undefined)).toEqual(['payment.finalize'])
  expect(await finalizedAt(101, undefined)).toEqual(['payment.reverse'])
  expect(asked, 'the nodes are asked for the slot of the settlement').toEqual([100])
})
