import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createLog } from '../../src/machine/log.ts'
import { createGate } from '../e2e/streamedAnswer.ts'
import { ask, askForQuote } from '../support/ask.ts'
import { ledgerFindings } from '../support/ledgerFindings.ts'
import { answersJson, openLoopbackServer } from '../support/loopbackServer.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openMarketServers } from '../support/marketServers.ts'
import { openTestService, type TestService } from '../support/testService.ts'

/* The products file is read again while the service sells. */

const api = await openLoopbackServer(answersJson(200, { ok: true }))
const file = join(await makeScratchDirectory(), 'tollbook.yaml')
const logged: string[] = []
const log = createLog({ level: 'info', name: 'test', destination: { write: (line) => void logged.push(line) } })
let service: TestService

const route = (path: string, usd: string) =>
  `  - { path: ${path}, summary: S, upstream: a, to: ${path}, price: { usd: "${usd}" } }\n`
const write = (...routes: readonly string[]) =>
  writeFile(file, `version: 1\nupstreams: { a: { url: "${api.url}" } }\nroutes:\n${routes.join('')}`)
const priceOf = async (path: string) => (await askForQuote(service, { path })).pricing.priceUSD
const buy = async (path: string, proof: string) => {
  const headers = { 'x-wallet-address': service.payer.address, 'x-payment-proof': proof }
  const response = await fetch(service.baseUrl + path, { headers })
  return [response.status, await response.text()]
}

beforeAll(async () => {
  await write(route('/one', '0.01'), route('/gone', '0.01'))
  service = await openTestService({ env: { PRODUCTS_FILE: file }, log })
})

test('new prices, new routes and removed routes take effect at once, and a payment buys at its quote', async () => {
  const proof = await service.payer.pay(await askForQuote(service, { path: '/one' }))
  await write(route('/one', '0.05'), route('/new', '0.02'))
  await service.reload()
  expect([await priceOf('/one'), await priceOf('/new')]).toEqual([0.05, 0.02])
  expect((await ask(service, { path: '/gone' })).status).toBe(404)
  expect(await buy('/one', proof)).toEqual([200, '{"ok":true}'])
  const { body } = await ask(service, { path: '/api/catalog' })
  expect(body['data']).toMatchObject({ products: [{ path: '/one', priceUSD: 0.05 }, { path: '/new' }] })
  expect((await ask(service, { path: '/openapi.json' })).body['paths']).toHaveProperty('/new')
})

test('a file with mistakes changes nothing, and log and health report it until it is valid', async () => {
  await write(route('/one', '0'), route('/docs', '0.02'))
  await service.reload()
  expect([await priceOf('/one'), await priceOf('/new')]).toEqual([0.05, 0.02])
  const refused = logged.find((line) => line.includes('products_file_refused'))
  expect(refused).toContain('routes[0].price.usd')
  expect(refused).toContain('routes[1].path')
  const checks = async () => (await ask(service, { path: '/api/health' })).body['data']
  expect(await checks()).toMatchObject({ checks: { products_file: { status: 'failing' } } })
  await write(route('/one', '0.04'))
  await service.reload()
  expect(await checks()).not.toMatchObject({ checks: { products_file: { status: 'failing' } } })
  expect(await priceOf('/one')).toBe(0.04)
})

test('a request in progress keeps its route', async () => {
  const gate = createGate()
  const asked = createGate()
  api.script((question, response) => {
    asked.open()
    void gate.opened.then(() => answersJson(200, { from: question.path })(question, response))
  })
  const proof = await service.payer.pay(await askForQuote(service, { path: '/one' }))
  const buying = buy('/one', proof)
  await asked.opened
  await write(route('/other', '0.01'))
  await service.reload()
  expect((await ask(service, { path: '/one' })).status).toBe(404)
  gate.open()
  expect(await buying).toEqual([200, '{"from":"/one"}'])
})

test('a reload while the markets are silent sells at their last price, and believes no jump', async () => {
  const markets = await openMarketServers()
  await write(route('/one', '0.01'))
  const selling = await openTestService({ env: { PRODUCTS_FILE: file, ...markets.env } })
  const tokens = async (path: string) => (await askForQuote(selling, { path })).pricing.requiredTokens
  expect(await tokens('/one')).toBe(10)
  for (const name of ['jupiter', 'dexscreener', 'geckoterminal'] as const) markets.say(name, { status: 503, body: '' })
  await write(route('/two', '0.03'))
  await selling.reload()
  expect(await tokens('/two')).toBe(30)
  // A jump needs a second poll to be believed, and a reload is none.
  markets.sayAll('0.1')
  await write(route('/two', '0.04'))
  await selling.reload()
  expect(await tokens('/two')).toBe(40)
  expect(await ledgerFindings(selling.database.adminUrl)).toEqual([])
})

test('a separate finance listener sells nothing after a reload, and has its pages', async () => {
  await write(route('/one', '0.01'))
  const finance = { FINANCE_PORT: '0', FINANCE_ISSUER: 'https://issuer.example.com', FINANCE_JWKS_URL: api.url }
  const selling = await openTestService({ env: { PRODUCTS_FILE: file, FINANCE_HOST: '127.0.0.1', ...finance } })
  await write(route('/two', '0.02'))
  await selling.reload()
  const statuses = async (baseUrl = '') =>
    Promise.all(['/two', '/finance'].map(async (path) => (await fetch(baseUrl + path)).status))
  expect(await statuses(selling.financeUrl)).toEqual([404, 200])
  expect(await statuses(selling.baseUrl)).toEqual([401, 404])
})

test('the audit finds nothing', async () => {
  expect(await ledgerFindings(service.database.adminUrl)).toEqual([])
})
