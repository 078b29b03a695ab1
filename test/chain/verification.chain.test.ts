import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AuditReport, exitCodeOf } from '@tollbook/audit/auditReport'
import { isRefusal } from '@tollbook/core/refusal'
import type { ProvenAmounts, Settlement } from '../../src/payment/settlement.ts'
import { allCases } from './cases/allCases.ts'
import { judge, type Presented, type VerificationCase, verdictOf } from './cases/verificationCase.ts'
import { type ChainFixture, due, mintKinds, openChainFixture } from './chainFixture.ts'
import { auditPayments, positionOf } from './judges/auditPayments.ts'
import { everything, priceOnly, recordedAs } from './judges/recordedAs.ts'
import { judgeRehearsal, rehearsing } from './judges/rehearse.ts'

/*
 * Every row of the table in docs/verification.md: a real transaction, executed by the real token programs, and judged
 * three times. The rehearsal judges it before it is sent, as the service does with transactions that it sends itself.
 * The verifier judges the landed transaction, read over HTTP. The audit judges a ledger that took it for a payment: it
 * has to find nothing wrong if the verifier accepts the transaction, and to accuse the ledger if the verifier does not.
 */
describe.each(mintKinds)('%s', (kind) => {
  const cases = allCases.filter(({ kinds }) => kinds.includes(kind))
  const tried: Tried[] = []
  let fixture: ChainFixture

  beforeAll(async () => {
    fixture = await openChainFixture(kind)
  })
  afterAll(() => fixture.chain.close())

  for (const tested of cases) {
    const { rule, says, verdict, rehearsed = verdict } = tested
    test(`${rule} ${says}: ${verdict}`, async () => {
      const rehearsal = rehearsing(fixture)
      const presented = await tested.pay(rehearsal.fixture)
      fixture.chain.forgetRequestCounts()

      const judged = await judge(fixture, presented)

      expect(verdictOf(judged), messageOf(judged)).toBe(verdict)
      const counts = verdict === 'not_found' ? unseen : onceRead
      expect(fixture.chain.requestCounts(), 'one call for each verified signature').toEqual(counts)
      const before = judgeRehearsal(fixture, presented, rehearsal.last())
      expect(verdictOf(before ?? priceOnly(fixture)), `rehearsed: ${messageOf(before)}`).toBe(rehearsed)
      tried.push({ tested, presented, judged })
      if (judged === undefined || isRefusal(judged)) return
      // I12: the burned and received amounts that the service records are never less than the price.
      expect(judged.burnedBaseUnits).toBeGreaterThanOrEqual(fixture.price.burnBaseUnits)
      expect(judged.receivedBaseUnits).toBeGreaterThanOrEqual(due(fixture))
    })
  }

  const isHonest = ({ tested }: Tried): boolean => (tested.audited ?? tested.verdict) === 'accepted'

  test('the audit exits 0 for a ledger of every accepted payment', async () => {
    fixture.chain.advanceSlots(finalSlots)
    for (const group of byWallet(fixture, tried.filter(isHonest))) {
      const report = await auditTried(fixture, group, (one) => amountsOf(fixture, one))
      expect(report.findings).toEqual([])
      expect(exitCodeOf(report)).toBe(0)
      for (const one of group) one.audited = true
    }
  })

  test.each([
    ['exactly the price', priceOnly],
    ['everything that moved', everything],
  ] as const)('the audit accuses a ledger that took %s for each refused payment', async (_, lie) => {
    for (const group of byWallet(
      fixture,
      tried.filter((one) => !isHonest(one)),
    )) {
      const { findings } = await auditTried(fixture, group, (one) => (record) => lie(fixture, one.presented, record))
      const accused = new Set(findings.map(({ position }) => position))
      const missed = group.filter((_one, index) => !accused.has(positionOf(index)))
      expect(missed.map(({ tested }) => tested.says)).toEqual([])
      for (const one of group) one.audited = true
    }
  })

  test('each case has been judged by the rehearsal, the verifier and the audit', () => {
    expect(tried.filter(({ audited }) => audited).map(({ tested }) => tested)).toEqual(cases)
  })
})

const onceRead = new Map([['getTransaction', 1]])
/** Whether a younger block has it. */
const unseen = new Map([...onceRead, ['getSignatureStatuses', 1]])
// On the local chain as on a real one, what is 32 slots old is final.
const finalSlots = 40

/** A case that the rehearsal and the verifier have judged. */
interface Tried {
  readonly tested: VerificationCase
  readonly presented: Presented
  readonly judged: Awaited<ReturnType<typeof judge>>
  audited?: boolean
}

/** An audit is about one payment wallet. */
function byWallet({ terms }: ChainFixture, tried: readonly Tried[]): Iterable<readonly Tried[]> {
  return Map.groupBy(tried, ({ presented }) => (presented.terms ?? terms).paymentWallet).values()
}

type Amounts = Parameters<typeof recordedAs>[2]

async function auditTried(
  fixture: ChainFixture,
  group: readonly Tried[],
  amounts: (one: Tried) => Amounts,
): Promise<AuditReport> {
  const settlements: Settlement[] = []
  for (const one of group) settlements.push(await recordedAs(fixture, one.presented, amounts(one)))
  const { paymentWallet } = group[0]?.presented.terms ?? fixture.terms
  return auditPayments(fixture, { paymentWallet, settlements })
}

/** As the verifier found them. */
function amountsOf(fixture: ChainFixture, { judged }: Tried): Amounts {
  const proven: ProvenAmounts = judged === undefined || isRefusal(judged) ? priceOnly(fixture) : judged
  return () => proven
}

function messageOf(judged: object | undefined): string {
  return judged !== undefined && isRefusal(judged) ? judged.message : ''
}
