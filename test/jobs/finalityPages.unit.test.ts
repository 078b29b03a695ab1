import { expect, test } from 'vitest'
import { noFinalityMemory, recordFinality } from '../../src/jobs/finalityJob.ts'
import { statusesMax } from '../../src/payment/finalityReader.ts'
import { solanaReference } from '../../src/payment/paymentReference.ts'
import { silentLog } from '../../src/primitives/log.ts'
import { heldClock, lifecycleWith, signatureNumber } from './jobFixture.ts'

const unused = (): never => {
  throw new Error('no payment of this test is decided')
}

test('a round asks for every open payment, page by page', async () => {
  const count = 2 * statusesMax + 5
  const open = Array.from({ length: count }, (_, n) => ({
    reference: solanaReference(signatureNumber(n + 1)),
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
      payments: { append: unused },
      lifecycle: lifecycleWith({
        findOpen(question, max) {
          const after = question.kind === 'awaiting_finality' ? question.after : undefined
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
    },
    noFinalityMemory(),
  )
  expect(asked).toHaveLength(count)
  expect(new Set(asked).size).toBe(count)
})
