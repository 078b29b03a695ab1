import { expect, test } from 'vitest'
import { createUsedProofs } from '../../src/routes/usedProofs.ts'

test('a proof is used once until it expires, and a full memory refuses new proofs until some have expired', () => {
  const used = createUsedProofs(2)
  const [one, two, three] = ['one', 'two', 'three'].map((proof, nth) => ({ proof, expiresAtMs: 1_000 * (nth + 1) }))
  if (one === undefined || two === undefined || three === undefined) throw new Error('there are three proofs')
  expect([used.use(one, 0), used.use(one, 0), used.use(two, 0)]).toEqual([true, false, true])
  expect(used.use(three, 999)).toBe(false)
  expect([used.use(three, 1_000), used.use(two, 1_000)]).toEqual([true, false])
})
