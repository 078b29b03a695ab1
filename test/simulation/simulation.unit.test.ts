import { expect, test } from 'vitest'
import { plantedBugs } from './plantedBugs.ts'
import { simulate } from './simulate.ts'
import { readSchemaRules } from './simulatedPostgres.ts'

/*
 * A sample of `npm run proof:simulation`. A seed that fails here runs again, with everything that happens, by
 * `npm run proof:simulation -- --seed N`.
 */

const rules = await readSchemaRules()
const seeds = Array.from({ length: 50 }, (_, n) => n + 1)

test('50 seeds keep every invariant (I1, I2, I3, I6, I8, I17, I26)', async () => {
  const failed: unknown[] = []
  for (const seed of seeds) {
    const { violations } = await simulate({ seed, rules })
    if (violations.length > 0) failed.push({ seed, violations })
  }
  expect(failed).toEqual([])
})

test('a seed runs twice the same way', async () => {
  const [one, other] = [await simulate({ seed: 2, rules }), await simulate({ seed: 2, rules })]
  expect(other.steps).toBe(one.steps)
  expect(other.judged.map(({ item, result }) => [item.step, result.outcome])).toEqual(
    one.judged.map(({ item, result }) => [item.step, result.outcome]),
  )
})

test('a planted bug is found: a claim that is not awaited', async () => {
  const [planted] = plantedBugs
  const { violations } = await simulate({ seed: 1, rules, ...(planted === undefined ? {} : { planted }) })
  expect(violations.some((violation) => violation.includes('I2'))).toBe(true)
})
