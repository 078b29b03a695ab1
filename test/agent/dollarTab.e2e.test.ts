import { beforeAll, expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { connectWallet } from '@tollbook/agent/client/walletClient'
import { startWallet } from '@tollbook/agent/wallet/walletProcess'
import { sampleDollarMint } from '../../src/cli/local/provisionDollar.ts'
import { afterFile } from '../support/afterFile.ts'
import { sampleDollar, walletWithDollars } from '../support/sampleDollar.ts'
import { devnet, openX402Service, type X402Service } from '../support/x402Service.ts'
import { makeAgentFolder, type PolicyFileContent } from './support/agentFolder.ts'
import { openWindow } from './support/mcpWindow.ts'

/* A wallet for agents with dollars alone, whose owner permits the token too. A QR code costs 0.4 USD. */

let x402: X402Service

beforeAll(async () => {
  x402 = await openX402Service({
    env: { CURRENCIES: 'usdc', BURN_DEBT_MAX_TOKENS: '1000000', PRICES_USD: '/api/tools/qrcode=0.4' },
    dollars: sampleDollar(),
    sellsTabs: true,
  })
})

/** A window of a new wallet with 5 dollars. */
async function openDollarWallet(perRequestUsd: string, more: Partial<PolicyFileContent> = {}) {
  const { baseUrl, chain } = x402.service
  const { host } = new URL(baseUrl)
  const policy: PolicyFileContent = {
    rpcUrl: chain.rpcUrl,
    network: devnet,
    hosts: { [host]: {} },
    mints: {
      [sampleDollarMint]: { name: 'USDC', usdPerToken: '1' },
      [x402.tokenMint]: { name: 'TOLL', usdPerToken: '0.001' },
    },
    limits: { perRequestUsd, perDayUsd: '2' },
    ...more,
  }
  const { secretKey } = await walletWithDollars(x402.service, 5_000_000n)
  const folder = await makeAgentFolder(secretKey, policy)
  const started = await startWallet({ folder, report: (line) => expect(line).toBe('') })
  afterFile(() => started.close())
  const window = await openWindow(connectWallet(folder, systemClock))
  const call = async (tool: string, order?: Record<string, unknown>): Promise<unknown> =>
    JSON.parse((await window.call(tool, order)).texts[0] ?? '')
  const pay = (path: string, body: object) =>
    call('pay_and_fetch', { url: `${baseUrl}${path}`, method: 'POST', body: JSON.stringify(body) })
  return { call, pay, host }
}

test('the wallet opens a tab in dollars, and its limits count the deposit', async () => {
  const { call, pay: post, host } = await openDollarWallet('0.5')
  const pay = (data: string) => post('/api/tools/qrcode', { data })
  expect([await pay('a'), await pay('b')]).toMatchObject([{ paid: { usd: '0.4' } }, { paid: { usd: '0.4' } }])
  expect(await call('spending')).toMatchObject({ spentTodayUsd: '1', leftTodayUsd: '1', openPayments: 0 })
  expect(await call('balance')).toMatchObject({
    tabs: [{ host, state: 'open', mint: sampleDollarMint, tokens: '0.2' }],
  })
})

test('a call of the tool that sells tabs buys none with a key of the model, in dollars either', async () => {
  // A wallet that opens no tabs pays each request by x402 or MPP, whose offers name no product.
  const { call, pay } = await openDollarWallet('1', { tabs: false })
  const order = { depositUsd: 1, sessionKey: x402.service.demoWallet.publicKey.toBase58() }
  const params = { name: 'tabs', arguments: order }
  expect(await pay('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })).toMatchObject({
    refused: 'URL_REFUSED',
  })
  expect(await call('spending')).toMatchObject({ spentTodayUsd: '0', openPayments: 0 })
})
