import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { openRoutes } from '../../src/gateway/openRoutes.ts'
import { readProductsFile } from '../../src/gateway/readProductsFile.ts'
import { silentLog } from '../../src/machine/log.ts'
import type { ProductOrder } from '../../src/product/productFacts.ts'
import { afterFile } from '../support/afterFile.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

/* Orders of a route that takes more parameters than are listed. */

const file = join(await makeScratchDirectory(), 'tollbook.yaml')
writeFileSync(
  file,
  `
version: 1
upstreams: { a: { url: "http://a" } }
routes:
  - path: /search
    summary: A search with more parameters than are listed
    upstream: a
    to: /search?limit=10
    price: { usd: "0.01" }
    parameters:
      additionalProperties: true
      properties:
        q: { type: string }
        sort: { type: object, properties: { by: { enum: [age] } } }
        all: { type: array, items: { properties: { id: { maximum: 9 } } } }
`,
)
const routes = openRoutes(
  readProductsFile(file, { readVariable: () => ({ problem: 'is not set' }), handlerTimeoutMs: 30_000 }),
  { clock: systemClock, log: silentLog, version: '0', isProbed: false, onCall: () => undefined },
)
afterFile(routes.close)
const [search] = routes.open(routes.products)
const read = (order: ProductOrder) => search?.read(order)

test('a parameter that the API could take for another one is refused before its price', () => {
  expect(read({ q: 'x', page: '2', sort: '{"by":"age","desc":true}' })).toMatchObject({ ok: true })
  for (const [name, order] of [
    ['limit', { limit: '1000' }],
    ['Limit', { Limit: '1000' }],
    ['Q', { q: 'x', Q: 'y' }],
    ['\u017fort', { '\u017fort': 'x' }],
    ['BY', { sort: '{"by":"age","BY":"all"}' }],
    ['ID', { all: '[{"id":1},{"id":1,"ID":10}]' }],
  ] as const)
    expect(JSON.stringify(read(order)), name).toContain(`"${name}"],"message":"must be absent`)
})

test('a query has no deeper JSON and no more items than a body, because checks take stack and time', () => {
  const nested = (levels: number) => '{"a":'.repeat(levels) + '"[[[,,"' + '}'.repeat(levels)
  expect(read({ sort: nested(32) })).toMatchObject({ ok: true })
  for (const levels of [33, 2_500]) expect(read({ sort: nested(levels) })).toMatchObject({ ok: false })
  for (const [count, ok] of [
    [1_000, true],
    [1_001, false],
  ] as const) {
    const items = Array.from({ length: count }, (_, index) => index)
    for (const all of [items.join(), JSON.stringify(items)]) expect(read({ all })).toMatchObject({ ok })
  }
})
