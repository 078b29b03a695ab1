import { Pool } from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { audit } from '@tollbook/audit/audit'
import { systemClock } from '@tollbook/core/clock'
import { afterFile } from '../support/afterFile.ts'
import { ask, askForQuote, type Reply } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { newSessionKey, openTab } from './tabClient.ts'

const env = { TAB_MAX_USD: '10', TABS_TOTAL_MAX_USD: '22' }

/** Two instances on one ledger. */
let instances: readonly [TestService, TestService]
let admin: Pool

beforeAll(async () => {
  const service = await openTestService({ sellsTabs: true, env })
  instances = [service, await openTestService({ sellsTabs: true, besides: service, env })]
  admin = new Pool({ connectionString: service.database.adminUrl, max: 1 })
  afterFile(() => admin.end())
})

// 1 USD at 0.001 USD a token of 6 decimals.
const usdBaseUnits = 1_000_000_000n

async function owedBy(prefix: string): Promise<bigint> {
  const { rows } = await admin.query<{ sum: string }>(
    'select coalesce(-sum(balance), 0) as sum from ledger.accounts where name like $1',
    [`Liabilities:${prefix}:%`],
  )
  return BigInt(rows[0]?.sum ?? 0)
}

/** Pays for all orders first, and presents the payments at once, in turn at both instances. */
async function depositAtOnce(bodies: readonly object[]) {
  const [service] = instances
  const paid = []
  for (const body of bodies) {
    const order = { path: '/api/tabs', body }
    paid.push({ ...order, proof: await service.payer.pay(await askForQuote(service, order), 'boundSignature') })
  }
  return Promise.all(paid.map((order, index) => ask(instances[index % 2 === 0 ? 0 : 1], order)))
}

const sortedStatuses = (replies: readonly Reply[]) =>
  replies.map(({ status }) => status).toSorted((one, other) => one - other)

test('top-ups at once never fill a tab beyond its limit, and those that do not fit are owed back in full', async () => {
  const [service] = instances
  const { tab } = await openTab(service, { depositUsd: 5 })
  const replies = await depositAtOnce(Array.from({ length: 6 }, () => ({ depositUsd: 5, tab })))
  expect(sortedStatuses(replies)).toEqual([200, 404, 404, 404, 404, 404])
  for (const { body } of replies.filter(({ status }) => status === 404))
    expect(body).toMatchObject({ code: 'NO_DATA', error: expect.stringMatching(/the tab would hold .* owed back/) })
  expect(await owedBy('Prepaid')).toBe(10n * usdBaseUnits)
  service.chain.advanceSlots(40)
  await awaitThat('the refused deposits are owed back', async () => (await owedBy('RefundsDue')) === 25n * usdBaseUnits)
})

test('deposits at once never fill all tabs beyond their limit, and those that do not fit are owed back', async () => {
  const [service] = instances
  const before = await owedBy('RefundsDue')
  const replies = await depositAtOnce(
    Array.from({ length: 6 }, () => ({ depositUsd: 5, sessionKey: newSessionKey().address })),
  )
  expect(sortedStatuses(replies)).toEqual([200, 200, 404, 404, 404, 404])
  expect(await owedBy('Prepaid')).toBe(20n * usdBaseUnits)
  service.chain.advanceSlots(40)
  await awaitThat('they are owed back', async () => (await owedBy('RefundsDue')) === before + 20n * usdBaseUnits)
})

test('a deposit that would not fit is not offered, and a smaller one is', async () => {
  const service = await openTestService({ sellsTabs: true, besides: instances[0], env })
  const statusOf = async (depositUsd: number) => {
    const body = { depositUsd, sessionKey: newSessionKey().address }
    return (await ask(service, { path: '/api/tabs', body })).status
  }
  expect([await statusOf(5), await statusOf(1)]).toEqual([503, 402])
})

test('the product has a page with its script, which offers no transaction to the payment wallet', async () => {
  const read = (path: string) => fetch(`${instances[0].baseUrl}${path}`)
  const [page, script] = await Promise.all(['/pay/api/tabs', '/page/tab.js'].map(read))
  expect([page?.status, script?.status]).toEqual([200, 200])
  expect(await page?.text()).toContain('src="../../page/tab.js"')
})

test('an audit finds nothing', async () => {
  const report = await audit({
    source: { kind: 'database', url: instances[0].database.serviceUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    chain: undefined,
    resumeFile: undefined,
    clock: systemClock,
  })
  expect(report.findings.map(({ code, subject, message }) => `${code} ${subject}: ${message}`)).toEqual([])
})
