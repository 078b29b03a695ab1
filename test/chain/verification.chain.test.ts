import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRefusal } from '@tollbook/core/refusal'
import { allCases } from './cases/allCases.ts'
import { judge, verdictOf } from './cases/verificationCase.ts'
import { type ChainFixture, due, mintKinds, openChainFixture } from './chainFixture.ts'

/*
 * Every row of the table in docs/verification.md: a real transaction, executed by the real token programs, read over HTTP
 * with the adapter of the service, and judged by its rules.
 */
describe.each(mintKinds)('%s', (kind) => {
  let fixture: ChainFixture

  beforeAll(async () => {
    fixture = await openChainFixture(kind)
  })
  afterAll(() => fixture.chain.close())

  for (const { rule, says, verdict, pay } of allCases.filter(({ kinds }) => kinds.includes(kind))) {
    test(`${rule} ${says}: ${verdict}`, async () => {
      const presented = await pay(fixture)
      fixture.chain.forgetRequestCounts()

      const judged = await judge(fixture, presented)

      expect(verdictOf(judged), messageOf(judged)).toBe(verdict)
      const counts = verdict === 'not_found' ? unseen : onceRead
      expect(fixture.chain.requestCounts(), 'one call for each verified signature').toEqual(counts)
      if (judged === undefined || isRefusal(judged)) return
      // I12: the burned and received amounts that the service records are never less than the price.
      expect(judged.burnedBaseUnits).toBeGreaterThanOrEqual(fixture.price.burnBaseUnits)
      expect(judged.receivedBaseUnits).toBeGreaterThanOrEqual(due(fixture))
    })
  }
})

const onceRead = new Map([['getTransaction', 1]])
/** Whether a younger block has it. */
const unseen = new Map([...onceRead, ['getSignatureStatuses', 1]])

function messageOf(judged: Awaited<ReturnType<typeof judge>>): string {
  return judged !== undefined && isRefusal(judged) ? judged.message : ''
}
