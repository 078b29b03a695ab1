import { createKeyPairSignerFromBytes } from '@solana/kit'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { verifyReceipt } from '@tollbook/client'
import { sampleDollarMint } from '../../src/cli/local/provisionDollar.ts'
import { silentLog } from '../../src/machine/log.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { openLedger } from '../../src/store/openLedger.ts'
import { openPool } from '../kernel/openKernel.ts'
import { auditLedger } from '../support/ledgerFindings.ts'
import { qrOrder, type Reply } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { mppFetch } from '../support/mppClient.ts'
import { sampleDollar } from '../support/sampleDollar.ts'
import { openX402Service, stockFetch, type X402Service } from '../support/x402Service.ts'
import { askOnTab, closeTab, newSessionKey, type OpenedTab, readOpenedTab } from './tabClient.ts'

/* Tabs in dollars, opened by stock clients without options. A QR code costs 0.005 USD, less than the dollar's minimum. */

const finalSlots = 40
let x402: X402Service
let wallet: string

beforeAll(async () => {
  x402 = await openX402Service({
    env: { CURRENCIES: 'usdc:minimum=0.01', BURN_DEBT_MAX_TOKENS: '20' },
    dollars: sampleDollar(),
    sellsTabs: true,
  })
  wallet = x402.service.demoWallet.publicKey.toBase58()
})

type Paying = typeof fetch

/** The builder of the README of `@x402/fetch`, with the address of this chain. */
async function fetchOfReadme(): Promise<Paying> {
  const signer = await createKeyPairSignerFromBytes(x402.service.demoWallet.secretKey)
  const scheme = new ExactSvmScheme(signer, { rpcUrl: x402.service.chain.rpcUrl })
  return wrapFetchWithPayment(fetch, new x402Client().register('solana:*', scheme))
}

const rails = {
  x402: { prefix: '/x402', marker: {}, open: fetchOfReadme },
  mpp: {
    prefix: '',
    marker: { 'accept-payment': 'solana/charge' },
    open: () => mppFetch(x402.service.demoWallet, { rpcUrl: x402.service.chain.rpcUrl }),
  },
}

function buyDeposit(pay: Paying, rail: keyof typeof rails, body: object): Promise<Response> {
  const { prefix, marker } = rails[rail]
  return pay(`${x402.service.baseUrl}${prefix}/api/tabs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...marker },
    body: JSON.stringify(body),
  })
}

async function openDollarTab(rail: keyof typeof rails = 'x402'): Promise<OpenedTab> {
  const key = newSessionKey()
  const response = await buyDeposit(await rails[rail].open(), rail, { depositUsd: 1, sessionKey: key.address })
  expect(response.status).toBe(200)
  return { ...readOpenedTab(await response.json()), key }
}

const buyQr = (tab: OpenedTab, number: number) => askOnTab(x402.service, tab, { ...qrOrder, wallet }, { number })

const shownTab = z.object({ data: z.looseObject({ isFinal: z.boolean() }) })

async function show(tab: OpenedTab) {
  return shownTab.parse(await (await fetch(`${x402.service.baseUrl}/api/tabs/${tab.tab}`)).json()).data
}

const prepaidIn = (mint: string) => balanceOf('Liabilities:Prepaid:%', mint)

async function balanceOf(name: string, mint: string): Promise<bigint> {
  const { rows } = await openPool(x402.service.database.adminUrl, 1).query<{ balance: string }>(
    'select coalesce(sum(balance), 0)::text as balance from ledger.accounts where name like $1 and mint = $2',
    [name, mint],
  )
  return BigInt(rows[0]?.balance ?? 0)
}

describe.each(['x402', 'mpp'] as const)('a stock client of %s without options', (rail) => {
  test('opens a tab in dollars, whose debits owe their burns in the token', async () => {
    const owedBefore = await balanceOf('Liabilities:BurnOwed', x402.tokenMint)
    const tab = await openDollarTab(rail)
    expect(tab).toMatchObject({ mint: sampleDollarMint, balanceBaseUnits: '1000000' })
    expect(await balanceOf('Liabilities:BurnOwed', x402.tokenMint)).toBe(owedBefore)
    const { status, headers, body } = await buyQr(tab, 1)
    expect(status).toBe(200)
    expect(headers.get('tab-balance')).toBe('995000')
    const { receipt } = body
    expect(receipt).toMatchObject({
      requiredBaseUnits: '5000',
      burned: '0',
      currency: { mint: sampleDollarMint, decimals: 6 },
      tokenBurn: { mint: x402.tokenMint, baseUnits: '1500000', source: 'treasury' },
      distribution: { provider: '2500', holders: '750', treasury: '1750' },
      tab: { id: tab.tab, heldBaseUnits: '5000' },
    })
    expect(await balanceOf('Liabilities:BurnOwed', x402.tokenMint)).toBe(owedBefore - 1_500_000n)
    const shown = await fetch(`${x402.service.baseUrl}/api/token/burns/tab:${tab.tab}:1`)
    expect(await shown.json()).toMatchObject({ data: { status: 'owed', baseUnits: '1500000' } })
    const keys: unknown = await (await fetch(`${x402.service.baseUrl}/.well-known/jwks.json`)).json()
    expect(await verifyReceipt({ receipt, keys })).toMatchObject({ valid: true })
  })
})

test('a price below the minimum of a dollar is paid by a tab, and not offered to payments', async () => {
  const response = await fetch(`${x402.service.baseUrl}/x402${qrOrder.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(qrOrder.body),
  })
  const offer = Buffer.from(response.headers.get('payment-required') ?? '', 'base64').toString()
  expect(offer).toContain(x402.tokenMint)
  expect(offer).not.toContain(sampleDollarMint)
})

test('a top-up in dollars raises the balance, and one in the token is owed back with both mints named', async () => {
  const tab = await openDollarTab()
  const topUp = await buyDeposit(await fetchOfReadme(), 'x402', { depositUsd: 1, tab: tab.tab })
  expect(readOpenedTab(await topUp.json())).toMatchObject({ balanceBaseUnits: '2000000', mint: sampleDollarMint })
  const { demoWallet, chain } = x402.service
  const inToken = await stockFetch(demoWallet, { rpcUrl: chain.rpcUrl, asset: x402.tokenMint })
  const refused = await buyDeposit(inToken, 'x402', { depositUsd: 1, tab: tab.tab })
  expect(refused.status).toBe(404)
  expect(await refused.text()).toContain(
    `the tab holds the mint ${sampleDollarMint}, and the deposit is in ${x402.tokenMint}`,
  )
  expect(await show(tab)).toMatchObject({ mint: sampleDollarMint, balanceBaseUnits: '2000000' })
})

test('the wallet for tabs covers each mint, and its public page shows both', async () => {
  const held = -(await prepaidIn(sampleDollarMint))
  const custody = await (await fetch(`${x402.service.baseUrl}/api/tabs/custody`)).json()
  expect(custody).toMatchObject({
    data: {
      mint: x402.tokenMint,
      isCovered: true,
      dollars: [{ mint: sampleDollarMint, prepaidBaseUnits: held.toString(), isCovered: true }],
    },
  })
})

test('a closed tab owes its whole rest in dollars, also while dollars are off', async () => {
  const tab = await openDollarTab()
  x402.service.chain.advanceSlots(finalSlots)
  await awaitThat('the deposit is final', async () => (await show(tab)).isFinal)
  let number = 0
  let off: Reply | undefined
  // Each debit promises 1.5 tokens, and 20 may be promised. Readings are a second old at most.
  await awaitThat('the limit of promises ends the sale', async () => {
    off = await buyQr(tab, ++number)
    return off.status !== 200
  })
  expect(off).toMatchObject({ status: 503, body: { code: 'ENDPOINT_UNAVAILABLE' } })
  expect(off?.headers.get('retry-after')).toBe('60')
  expect(JSON.stringify(off?.body)).toContain('until the treasury has delivered the tokens')
  const restBaseUnits = `${1_000_000 - 5_000 * (number - 1)}`
  expect(await show(tab)).toMatchObject({ state: 'open', balanceBaseUnits: restBaseUnits })
  const closed: unknown = await (await closeTab(x402.service.baseUrl, tab)).json()
  expect(closed).toMatchObject({ data: { closed: true, restBaseUnits } })
  expect(await balanceOf(`Liabilities:RefundsDue:${wallet}`, sampleDollarMint)).toBe(-BigInt(restBaseUnits))
  // Nothing could be bought with another deposit.
  const another = await fetchOfReadme()
  const deposit = { depositUsd: 1, sessionKey: newSessionKey().address }
  await expect(buyDeposit(another, 'x402', deposit)).rejects.toThrow('only default assets')
})

const treasury = z.object({
  data: z.object({
    treasury: z.object({
      promised: z.object({ baseUnits: z.string() }),
      sales: z.array(z.object({ mint: z.string(), baseUnits: z.string(), usd: z.number() })),
    }),
  }),
})

test('the statistics of burns count the debits as sales in dollars', async () => {
  const promised = -(await balanceOf('Liabilities:BurnOwed', x402.tokenMint))
  const soldBaseUnits = -(await balanceOf('Liabilities:Share:%', sampleDollarMint))
  expect(promised / 1_500_000n).toBe(soldBaseUnits / 5_000n)
  const { serviceUrl: databaseUrl } = x402.service.database
  const ledger = await openLedger({ databaseUrl, applicationName: 'roll-up', clock: systemClock, log: silentLog })
  while ((await rollUp(ledger.database)) > 0);
  await ledger.close()
  const stats: unknown = await (await fetch(`${x402.service.baseUrl}/api/token/burn-stats`)).json()
  expect(treasury.parse(stats).data.treasury).toEqual({
    promised: { baseUnits: promised.toString() },
    sales: [{ mint: sampleDollarMint, baseUnits: `${soldBaseUnits}`, usd: Number(soldBaseUnits) / 1_000_000 }],
  })
})

test('the audit recomputes the burn of each debit in dollars and finds nothing', async () => {
  const { service, paymentWallet } = x402
  service.chain.advanceSlots(finalSlots)
  const { findings, verdicts } = await auditLedger(service.database.adminUrl, {
    rpcUrl: service.chain.rpcUrl,
    paymentWallet,
  })
  expect(findings).toEqual([])
  expect(verdicts.chainTruth.status).toBe('holds')
  expect(verdicts.chainTruth.checked).toContainEqual(
    expect.stringMatching(`holds \\d+ base units of ${sampleDollarMint}, and \\d+ are on tabs`),
  )
})
