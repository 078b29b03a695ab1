import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { z } from 'zod'

/* The till starts without the goods. The import rules say so of the files, and goodsApart.process.test.ts of a process. */

const rules = z.object({ forbidden: z.array(z.object({ name: z.string() })) })

test('the import rules keep the goods out of the till, and each product out of the loader', () => {
  const { forbidden } = rules.parse(createRequire(import.meta.url)('../../.dependency-cruiser.cjs'))
  const names = forbidden.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['till-without-goods', 'goods-on-demand', 'goods-apart']))
})
