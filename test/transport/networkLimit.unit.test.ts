import { expect, test } from 'vitest'
import { createLookupCounts } from '../../src/transport/lookupCounts.ts'
import { createClientLimit } from '../../src/transport/networkLimit.ts'

const rule = { name: 'requests', max: 2, windowMs: 60_000 }
const client = (number: number) => `2001:db8:1:${number}::/64`

test('a client that its network keeps out has not used up its limit, and both get back what is given back', () => {
  const limit = createClientLimit(rule, () => 0)
  for (let number = 0; number < 16; number++) for (let n = 0; n < 2; n++) limit.take(client(number))
  const late = client(99)
  for (let n = 0; n < 5; n++) expect(limit.take(late).isAllowed).toBe(false)
  for (let number = 0; number < 2; number++) limit.giveBack(client(number))
  expect([1, 2, 3].map(() => limit.take(late).isAllowed)).toEqual([true, true, false])
})

test('a client beyond its limit does not use up that of its network', () => {
  const limit = createClientLimit(rule, () => 0)
  for (let n = 0; n < 100; n++) limit.take(client(0))
  for (let number = 1; number < 16; number++) expect(limit.take(client(number)).isAllowed).toBe(true)
})

test('clients and networks share their counts under different names', () => {
  const limit = createClientLimit(rule, () => 0)
  limit.take(client(0))
  limit.take('192.0.2.1')
  const reports = limit.reports().map(({ name, client: of, more }) => [name, of, more])
  expect(reports).toEqual([
    ['requests', client(0), 1],
    ['requests', '192.0.2.1', 1],
  ])
  for (let n = 0; n < 3; n++) limit.take(client(n + 1))
  expect(limit.reports().filter(({ name }) => name === 'requests-48')).toMatchObject([
    { client: '2001:db8:1::/48', more: 4 },
  ])
})

test('all callers together have the lookups of a provider, and each provider has its own', () => {
  const counts = createLookupCounts(() => 0)
  const [one, other] = [counts.open('one', 2), counts.open('other', 1)]
  expect([one.take(), one.take(), one.take(), other.take(), other.take()]).toEqual([true, true, false, true, false])
  expect(counts.reports().map(({ name, more }) => [name, more])).toEqual([
    ['lookups one', 2],
    ['lookups other', 1],
  ])
})
