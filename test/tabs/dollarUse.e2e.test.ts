import { createHash, randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { sampleDollarMint } from '../../src/cli/local/provisionDollar.ts'
import { openPool } from '../kernel/openKernel.ts'
import { auditLedger } from '../support/ledgerFindings.ts'
import { ask, type Order, qrOrder } from '../support/ask.ts'
import { openLoopbackServer } from '../support/loopbackServer.ts'
import { sampleDollar } from '../support/sampleDollar.ts'
import { openX402Service, stockFetch, type X402Service } from '../support/x402Service.ts'
import { meteredModel } from './meteredModel.ts'
import { askOnTab, newSessionKey, openTab, type OpenedTab, readOpenedTab } from './tabClient.ts'

/*
 * Prices by use, bearer keys and limits of tabs in dollars. A base unit is a millionth of a dollar. The large model
 * holds 0.002 USD, for which the same request in the token burns 600,000 base units.
 */

const model = await openLoopbackServer(meteredModel)
let x402: X402Service
let wallet: string
let tab: OpenedTab

beforeAll(async () => {
  x402 = await openX402Service({
    env: {
      CURRENCIES: 'usdc',
      BURN_DEBT_MAX_TOKENS: '1000',
      TAB_MAX_USD: '10',
      TABS_TOTAL_MAX_USD: '13',
      TAB_BEARER_DAY_USD: '1',
      AI_BASE_URL: `${model.url}/v1`,
      AI_MODEL: 'small,large',
      AI_MODEL_PRICES_USD: 'large=0.002:64',
      AI_TOKEN_PRICES_USD: 'small=0.2:0.8:0.0001,large=10:40',
    },
    dollars: sampleDollar(),
    sellsTabs: true,
  })
  wallet = x402.service.demoWallet.publicKey.toBase58()
  const key = newSessionKey()
  tab = { ...(await deposit({ depositUsd: 1, sessionKey: key.address })), key }
})

async function tryDeposit(body: object): Promise<Response> {
  const { chain, demoWallet, baseUrl } = x402.service
  const pay = await stockFetch(demoWallet, { rpcUrl: chain.rpcUrl, asset: sampleDollarMint })
  const headers = { 'content-type': 'application/json' }
  return pay(`${baseUrl}/x402/api/tabs`, { method: 'POST', headers, body: JSON.stringify(body) })
}

const deposit = async (body: object) => readOpenedTab(await (await tryDeposit(body)).json())

const chatOf = (content: string, headers: Record<string, string> = {}): Order => {
  return { path: '/api/ai/chat', body: { message: content, model: 'large' }, headers, wallet }
}

const used = z.object({
  receipt: z.object({
    requiredBaseUnits: z.string(),
    tokenBurn: z.object({ mint: z.string(), baseUnits: z.string() }),
    tab: z.object({ heldBaseUnits: z.string() }),
  }),
})

/** Buys a chat and returns its charge, the burn that it owes and its hold. */
async function chat(number: number, order: Order): Promise<readonly [bigint, bigint, bigint]> {
  const { status, body } = await askOnTab(x402.service, tab, order, { number })
  expect(status, JSON.stringify(body)).toBe(200)
  const { requiredBaseUnits, tokenBurn, tab: own } = used.parse(body).receipt
  expect(tokenBurn.mint).toBe(x402.tokenMint)
  return [BigInt(requiredBaseUnits), BigInt(tokenBurn.baseUnits), BigInt(own.heldBaseUnits)]
}

test('a chat costs its tokens in dollars, and owes the burn in proportion', async () => {
  const costMicroUsd = 11n * 10n + 40n * 40n
  expect(await chat(1, chatOf('usage please'))).toEqual([costMicroUsd, (600_000n * costMicroUsd) / 2_000n, 2_000n])
})

test('tab-max-usd bounds the hold and with it the burn, and a price above it is refused', async () => {
  const [charged, burn, held] = await chat(2, chatOf('no_usage please', { 'tab-max-usd': '0.001001' }))
  expect(held).toBe(1_001n)
  expect(charged <= held && burn === (300_300n * charged + held - 1n) / held).toBe(true)
  const order = { ...qrOrder, wallet, headers: { 'tab-max-usd': '0.004999' } }
  expect(await askOnTab(x402.service, tab, order, { number: 3 })).toMatchObject({ body: { reason: 'tab_limit' } })
})

test('a bearer key spends dollars up to the limit of its day', async () => {
  const secret = randomBytes(32)
  const bearerSha256 = createHash('sha256').update(secret).digest('hex')
  const { bearerPrefix } = await deposit({ depositUsd: 1, bearerSha256, maxPerDayUsd: 0.011 })
  const headers = { authorization: `Bearer ${bearerPrefix ?? ''}${secret.toString('base64url')}` }
  const buy = () => ask(x402.service, { ...qrOrder, headers })
  expect([(await buy()).status, (await buy()).status]).toEqual([200, 200])
  expect((await buy()).body).toMatchObject({
    reason: 'tab_limit',
    error: expect.stringContaining('permits 1000 for the rest of this UTC day'),
  })
})

test('the limit over all tabs counts tokens and dollars together', async () => {
  await openTab(x402.native, { depositUsd: 10 })
  const beyond = await tryDeposit({ depositUsd: 5, sessionKey: newSessionKey().address })
  expect(beyond.status).toBe(404)
  expect(await beyond.text()).toContain('all tabs together would hold more than this service permits')
  const { rows } = await openPool(x402.service.database.adminUrl, 1).query<{ mint: string; held: string }>(
    `select mint, (-sum(balance))::text as held from ledger.accounts
      where name like 'Liabilities:Prepaid:%' group by mint order by mint = $1`,
    [sampleDollarMint],
  )
  expect(rows).toMatchObject([{ held: '10000000000' }, { mint: sampleDollarMint }])
  expect(Number(rows[1]?.held)).toBeLessThan(2_000_000)
})

test('the audit recomputes each charge and each burn', async () => {
  const { service, paymentWallet } = x402
  service.chain.advanceSlots(40)
  const { findings } = await auditLedger(service.database.adminUrl, { rpcUrl: service.chain.rpcUrl, paymentWallet })
  expect(findings).toEqual([])
})
