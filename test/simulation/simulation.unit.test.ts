import { expect, test } from 'vitest'
import { plantedBugs } from './plantedBugs.ts'
import { simulate } from './simulate.ts'
import { readSchemaRules } from './simulatedPostgres.ts'

/*
 * A sample of `npm run proof simulation`. A seed that fails here runs again, with everything that happens, by
 * `npm run proof simulation -- --seed N --crowd 8`.
 */

const rules = await readSchemaRules()
// 0.5 s of processor time each, with crowds of 8 where the proof has 64. `npm run proof simulation -- --planted --crowd
// 8` finds its ten planted bugs within the first 17 seeds. CI also runs seeds 4 to 60
// (`proofs/smallProofs.process.test.ts`), the proof 1,000.
const crowd = 8
const seeds = [1, 2, 3]

test('each seed keeps every invariant (I1, I2, I3, I6, I8, I17, I26)', async () => {
  const failed: unknown[] = []
  for (const seed of seeds) {
    const { violations } = await simulate({ seed, rules, crowd })
    if (violations.length > 0) failed.push({ seed, violations })
  }
  expect(failed).toEqual([])
})

test('a seed runs twice the same way', async () => {
  const [one, other] = [await simulate({ seed: 2, rules, crowd }), await simulate({ seed: 2, rules, crowd })]
  expect(other.steps).toBe(one.steps)
  expect(other.judged.map(({ item, result }) => [item.step, result.outcome])).toEqual(
    one.judged.map(({ item, result }) => [item.step, result.outcome]),
  )
})

test('a planted bug is found: a claim that is not awaited', async () => {
  const [planted] = plantedBugs
  const { violations } = await simulate({ seed: 1, rules, crowd, ...(planted === undefined ? {} : { planted }) })
  expect(violations.some((violation) => violation.includes('I2'))).toBe(true)
})
