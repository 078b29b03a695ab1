import { assertPresent } from '@tollbook/core/assert'
import { signCheckpoint } from '@tollbook/core/checkpoint'
import { nextMonth, type SignedClosing } from '@tollbook/core/closingStatement'
import { jwsSigner } from '@tollbook/core/compactJws'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { verifyClosing } from '@tollbook/client/verifyClosing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { decideFinality, decideRefund, type FinalVerdict } from '../../src/payment/finality.ts'
import { evolveAll, type PaymentDecision, type PaymentState } from '../../src/payment/payment.ts'
import type { PaymentChange } from '../../src/payment/paymentLedger.ts'
import { receiptKeyId } from '../../src/settings/receiptKeys.ts'
import { signClosing } from '../../src/reports/closing/signClosing.ts'
import { createReports } from '../../src/reports/reports.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { trialBalance } from '../../src/reports/trialBalance.ts'
import { sealNext } from '../../src/store/sealer.ts'
import { createTestDatabase } from '../support/database.ts'
import { openLedgerTime } from '../support/ledgerTime.ts'
import { mustAppend, openInstance, openSessions } from '../store/instance.ts'
import {
  claimOf,
  fulfilmentOf,
  releaseOf,
  sampleAddress,
  sampleEvidence,
  sampleMint,
  samplePrice,
  sampleSettlement,
} from '../store/samplePayment.ts'
import { recordBurn } from './recordBurn.ts'
import { recordPayout } from './recordPayout.ts'

/*
 * Movements across the end of a month, recorded when they would be: the ledger takes its time from the test.
 */

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const endpoint = '/api/data/weather'
const at = (time: string) => Date.parse(`${time}:00.000Z`)

async function openLedger() {
  const { serviceUrl, adminUrl } = await createTestDatabase()
  const ledger = await openInstance(serviceUrl)
  const admin = openSessions(adminUrl)
  const time = await openLedgerTime(admin)
  const key = makeReceiptKey()
  const signer = ed25519Signer(key)
  const signJws = jwsSigner(signer, receiptKeyId(key))
  const sign = (tree: { size: number; root: Uint8Array }) =>
    signCheckpoint({ origin: 'tollbook/months', ...tree }, signer)
  const reports = createReports(ledger.database, { mint: sampleMint, decimals: 6 })
  return {
    ledger,
    admin,
    time,
    async append(change: PaymentChange, recordedAtMs = change.nowMs) {
      await time.set(recordedAtMs)
      return (await mustAppend(ledger, change)).after
    },
    async closing(month: string, nowMs: number) {
      while ((await sealNext({ ...ledger, sign })).sealedEvents > 0);
      while ((await rollUp(ledger.database, 50)) > 0);
      return signClosing(signJws, await reports.closing({ month, nowMs }))
    },
    continues: (closing: SignedClosing, previous: SignedClosing) =>
      verifyClosing({ closing, previous, keys: { kty: key.kty, crv: key.crv, x: key.x } }),
  }
}

const settlementOf = (requiredBaseUnits: bigint, blockTimeMs: number, isPaidWhole = false) => {
  const price = samplePrice(endpoint, requiredBaseUnits)
  const burnedBaseUnits = isPaidWhole ? 0n : price.burnBaseUnits
  const receivedBaseUnits = price.requiredBaseUnits - burnedBaseUnits
  const evidence = sampleEvidence({ blockTimeMs })
  return sampleSettlement({ price, wallet: sampleAddress(), burnedBaseUnits, receivedBaseUnits, evidence })
}
const afterOf = ({ before, events, nowMs }: PaymentChange): PaymentState => evolveAll(before, events, nowMs)
const following = (change: PaymentChange, decision: PaymentDecision | undefined, nowMs: number): PaymentChange => ({
  reference: change.reference,
  before: afterOf(change),
  ...assertPresent(decision, 'the payment is in a state for it'),
  nowMs,
})
const final: FinalVerdict = { kind: 'finalized', slot: 1_000 }
const dropped: FinalVerdict = { kind: 'reversed', reason: 'absent', finalizedSlot: 2_000 }

interface StoryOptions {
  readonly requiredBaseUnits: bigint
  readonly blockTimeMs: number
  readonly isPaidWhole: boolean
  readonly isServed: boolean
  readonly isDropped: boolean
  /** From the payment to its end. */
  readonly laterMs: number
}

/** Verified, answered or released, then final or dropped, and owed back when nothing was delivered. */
function storyOf({ requiredBaseUnits, blockTimeMs, isPaidWhole, isServed, isDropped, laterMs }: StoryOptions) {
  const settlement = settlementOf(requiredBaseUnits, blockTimeMs, isPaidWhole)
  const { change, attemptId } = claimOf(settlement, { nowMs: blockTimeMs, leaseMs: 20 * dayMs })
  const answer = (isServed ? fulfilmentOf : releaseOf)(settlement, { before: afterOf(change), attemptId })
  const end = { ...answer, nowMs: blockTimeMs + 500 }
  const verdict = following(end, decideFinality(afterOf(end), isDropped ? dropped : final), blockTimeMs + laterMs)
  if (isServed || isDropped) return [change, end, verdict]
  return [change, end, verdict, following(verdict, decideRefund(afterOf(verdict)), blockTimeMs + laterMs + hourMs)]
}

const linesOf = ({ statement }: SignedClosing) =>
  Object.fromEntries(statement.accounts.map(({ account, ...line }) => [account, line]))
const totalsOf = ({ statement }: SignedClosing) =>
  Object.fromEntries(Object.entries(statement.totals).map(([total, { baseUnits }]) => [total, BigInt(baseUnits)]))

test('a reversal, a burn, a payout and a refund after the end of a month are movements of the next one', async () => {
  const { admin, append, closing, continues, time } = await openLedger()
  const blockTimeMs = at('2026-07-31T23:59')
  const story = { requiredBaseUnits: 1_000n, blockTimeMs, isPaidWhole: false, isServed: true, isDropped: false }
  const laterMs = 5 * dayMs
  const [reversed, owing, refunded] = [
    storyOf({ ...story, isDropped: true, laterMs }),
    storyOf({ ...story, requiredBaseUnits: 2_000n, isPaidWhole: true, laterMs }),
    storyOf({ ...story, requiredBaseUnits: 4_000n, isServed: false, laterMs }),
  ]
  const inOrder = [reversed, owing, refunded].flat().toSorted((one, other) => one.nowMs - other.nowMs)
  for (const change of inOrder) await append(change)
  const paidAtMs = blockTimeMs + 7 * dayMs
  await time.set(paidAtMs)
  await recordBurn(admin, {
    mint: sampleMint,
    parts: [{ endpoint, baseUnits: 600n }],
    effectiveAtMs: paidAtMs,
  })
  const wallet = sampleAddress()
  await recordPayout(admin, {
    planId: 'payout_august',
    payments: [{ account: 'Liabilities:Share:provider', wallet, paidBaseUnits: 700n }],
    effectiveAtMs: paidAtMs,
  })
  const [july, august] = [
    await closing('2026-07', at('2026-09-05T00:00')),
    await closing('2026-08', at('2026-09-05T00:00')),
  ]
  expect(await continues(august, july)).toMatchObject({ valid: true })
  expect([july.statement.status, august.statement.status]).toEqual(['final', 'final'])
  const none = { refundsArisen: 0n, refundsGranted: 0n, paidOut: 0n, refunded: 0n, lost: 0n, burnConfirmed: 0n }
  // 30 % of each price is for the burn: 300 and 1,200 were burned by callers, 600 are owed.
  expect(totalsOf(july)).toEqual({
    ...none,
    received: 700n + 2_000n + 2_800n,
    burned: 1_500n,
    burnOwed: 600n,
    allocated: 700n + 1_400n,
  })
  expect(linesOf(july)['Liabilities:Unearned']?.closingBaseUnits).toBe('-2800')
  // The shares of the dropped payment stay earned, so its tokens are a loss.
  expect(totalsOf(august)).toEqual({
    ...none,
    received: -700n,
    burned: 0n,
    burnOwed: 0n,
    burnConfirmed: 600n,
    allocated: 0n,
    refundsArisen: 2_800n,
    paidOut: 700n,
    lost: 700n,
  })
  // The chain dropped the burn of July after July was closed.
  expect(linesOf(august)['Expenses:Burned']).toMatchObject({
    openingBaseUnits: '1500',
    debitBaseUnits: '600',
    restatedBaseUnits: '-300',
    closingBaseUnits: '1800',
  })
  expect(linesOf(august)['Liabilities:RefundsDue']?.closingBaseUnits).toBe('-2800')
  expect(july.statement.recordedLater.map(({ day }) => day)).toEqual(august.statement.restated.map(({ day }) => day))
})

test('a burn that is owed by an answer of the next month is of that month, and the closed one keeps its figures', async () => {
  const { append, closing, continues, time } = await openLedger()
  const blockTimeMs = at('2026-07-31T23:59')
  const settlement = settlementOf(1_000n, blockTimeMs, true)
  const { change, attemptId } = claimOf(settlement, { nowMs: blockTimeMs, leaseMs: 20 * dayMs })
  await append(change)
  await time.set(at('2026-08-03T00:00'))
  const july = await closing('2026-07', at('2026-08-03T00:00'))
  const fulfilment = fulfilmentOf(settlement, { before: afterOf(change), attemptId })
  await append({ ...fulfilment, nowMs: at('2026-08-04T00:00') })
  const august = await closing('2026-08', at('2026-09-03T00:00'))
  expect([totalsOf(july)['burnOwed'], totalsOf(august)['burnOwed']]).toEqual([0n, 300n])
  expect([totalsOf(july)['received'], totalsOf(august)['allocated']]).toEqual([1_000n, 700n])
  expect(linesOf(july)['Liabilities:Unearned']?.closingBaseUnits).toBe('-1000')
  expect(linesOf(august)['Liabilities:BurnOwed']?.restatedBaseUnits).toBe('0')
  expect(await closing('2026-07', at('2026-09-03T00:00'))).toMatchObject({
    statement: { totals: july.statement.totals },
  })
  expect(await continues(august, july)).toMatchObject({ valid: true })
})

const anyStory = fc.record({
  requiredBaseUnits: fc.bigInt({ min: 10n, max: 10n ** 9n }),
  blockTimeMs: fc.integer({ min: 0, max: 75 * 24 }).map((hours) => at('2026-06-15T00:00') + hours * hourMs),
  isPaidWhole: fc.boolean(),
  isServed: fc.boolean(),
  isDropped: fc.boolean(),
  laterMs: fc.constantFrom(hourMs, 2 * dayMs, 40 * dayMs),
  // From an event to its record.
  lagMs: fc.constantFrom(0, hourMs, 3 * dayMs, 35 * dayMs),
})

test('in any history each account opens with what it closed with, and a filed statement keeps its figures', async () => {
  const [stories = []] = fc.sample(fc.array(anyStory, { minLength: 15, maxLength: 15 }), { numRuns: 1, seed: 23 })
  const { ledger, append, closing, continues } = await openLedger()
  const records = stories
    .flatMap(({ lagMs, ...story }) => storyOf(story).map((change) => ({ change, recordedAtMs: change.nowMs + lagMs })))
    .toSorted((one, other) => one.recordedAtMs - other.recordedAtMs)
  const filed: SignedClosing[] = []
  let month = '2026-06'
  for (const { change, recordedAtMs } of records) {
    for (; recordedAtMs >= filedAtMs(month); month = nextMonth(month))
      filed.push(await closing(month, filedAtMs(month)))
    await append(change, recordedAtMs)
  }
  for (; filed.length < 6; month = nextMonth(month)) filed.push(await closing(month, filedAtMs(month)))
  const figures = ({ statement: { accounts, totals, restated, position, closingPrice } }: SignedClosing) => ({
    accounts,
    totals,
    restated,
    position,
    closingPrice,
  })
  for (const [index, statement] of filed.entries()) {
    const again = await closing(statement.statement.month, at('2027-03-01T00:00'))
    expect(figures(again)).toEqual(figures(statement))
    const previous = filed[index - 1]
    if (previous !== undefined) expect(await continues(statement, previous)).toMatchObject({ valid: true })
  }
  expect(filed.filter(({ statement }) => statement.restatedCount > 0).length).toBeGreaterThan(1)
  const last = assertPresent(filed.at(-1), 'months are filed')
  const balances: Record<string, bigint> = {}
  for (const { account, baseUnits } of await trialBalance(ledger.database)) {
    const line = account.startsWith('Liabilities:Share:') ? account : account.split(':').slice(0, 2).join(':')
    balances[line] = (balances[line] ?? 0n) + baseUnits
  }
  for (const { account, closingBaseUnits } of last.statement.accounts)
    expect([account, BigInt(closingBaseUnits)]).toEqual([account, balances[account] ?? 0n])
})

/** On the 2nd of the next month, when its statement is final. */
function filedAtMs(month: string): number {
  return at(`${nextMonth(month)}-02T01:00`)
}
