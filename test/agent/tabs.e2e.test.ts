import { beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { connectWallet, type WalletClient } from '@tollbook/agent/client/walletClient'
import { readHostTools } from '@tollbook/agent/mcp/serviceTools'
import { readPolicyFile } from '@tollbook/agent/policy/policyFile'
import type { WalletFolder } from '@tollbook/agent/walletFolder'
import { startWallet } from '@tollbook/agent/wallet/walletProcess'
import { payCommand } from '../../src/cli/pay.ts'
import { openTerminal } from '../cli/support/terminal.ts'
import { afterFile } from '../support/afterFile.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { makeAgentFolder, mintOf, type PolicyFileContent, writePolicy } from './support/agentFolder.ts'
import { openWindow, type Window } from './support/mcpWindow.ts'

/* A wallet for agents at a service that sells tabs. A QR code costs 0.4 USD, and a deposit 1 USD. */

let service: TestService
let policy: PolicyFileContent
let folder: WalletFolder
let wallet: WalletClient
let window: Window

beforeAll(async () => {
  service = await openTestService({
    sellsTabs: true,
    env: { TAB_MAX_USD: '20', TABS_TOTAL_MAX_USD: '1000', PRICES_USD: '/api/tools/qrcode=0.4' },
  })
  policy = {
    rpcUrl: service.chain.rpcUrl,
    hosts: { [new URL(service.baseUrl).host]: {} },
    mints: { [await mintOf(service.baseUrl)]: { name: 'TOLL', usdPerToken: '0.001' } },
    limits: { perRequestUsd: '0.5', perDayUsd: '2' },
  }
})

beforeEach(async () => {
  folder = await makeAgentFolder(service.demoWallet.secretKey, policy)
  const started = await startWallet({ folder, report: (line) => expect(line).toBe('') })
  afterFile(() => started.close())
  wallet = connectWallet(folder, systemClock)
  window = await openWindow(wallet)
})

const given = (data: string, more: object = {}) => ({
  url: `${service.baseUrl}/api/tools/qrcode`,
  method: 'POST',
  body: JSON.stringify({ data }),
  ...more,
})
const pay = async (data: string, more?: object) => {
  const { isError, texts } = await window.call('pay_and_fetch', given(data, more))
  const own: unknown = JSON.parse(texts[0] ?? '')
  return { isError, own }
}
const read = async (tool: string): Promise<unknown> => JSON.parse((await window.call(tool)).texts[0] ?? '')
const paid = { isError: false, own: { status: 200, paid: { usd: '0.4' } } }

test('one deposit pays for requests until the limit of the day, and the model sees what is left', async () => {
  const host = new URL(service.baseUrl).host
  expect([await pay('a'), await pay('b')]).toMatchObject([paid, paid])
  expect(await read('spending')).toMatchObject({ spentTodayUsd: '1', leftTodayUsd: '1', openPayments: 0 })
  expect(await read('balance')).toMatchObject({ tabs: [{ host, state: 'open', tokens: '200' }] })
  // The top-up is the second deposit, and the last that the limit permits.
  expect([await pay('c'), await pay('d'), await pay('e')]).toMatchObject([paid, paid, paid])
  expect(await read('spending')).toMatchObject({ spentTodayUsd: '2', leftTodayUsd: '0', openPayments: 0 })
  expect(await pay('f')).toMatchObject({ isError: true, own: { refused: 'LIMIT_REACHED' } })
  expect(await read('balance')).toMatchObject({ tabs: [{ state: 'open', tokens: '0' }] })
})

test('a price, a call with a lower limit and a request for a tab open no tab', async () => {
  expect(JSON.parse((await window.call('quote', given('a'))).texts[0] ?? '')).toMatchObject({ priceUsd: '0.4' })
  expect(await pay('a', { maxUsd: '0.1' })).toMatchObject({ isError: true, own: { refused: 'PRICE_TOO_HIGH' } })
  const order = { url: `${service.baseUrl}/api/tabs`, body: '{"depositUsd":1}' }
  expect(await pay('', order)).toMatchObject({ isError: true, own: { refused: 'URL_REFUSED' } })
  expect(await read('spending')).toMatchObject({ spentTodayUsd: '0', payments: 0 })
  const { policy: owned } = await readPolicyFile(folder.policy)
  const [typed] = await readHostTools(wallet, owned)
  expect(typed?.tools.map(({ path }) => path).filter((path) => path.includes('tabs'))).toEqual([])
})

test('a debit above the sum to confirm asks the person, and a deposit of the size that the owner names does not', async () => {
  await writePolicy(folder, { ...policy, confirmAboveUsd: '0.3', tabs: { depositUsd: 1 } })
  expect(await pay('a')).toMatchObject({ isError: true, own: { refused: 'CONFIRMATION_NEEDED' } })
  expect(await read('spending')).toMatchObject({ payments: 0 })
  const asked: string[] = []
  window = await openWindow(wallet, { onAsked: (message) => asked.push(message) > 0 })
  expect(await pay('a')).toMatchObject(paid)
  expect(asked).toHaveLength(1)
  expect(asked[0]).toMatch(/^Pay 0\.4 USD in TOLL to the service, from its tab, for a request to 127\.0\.0\.1:\d+\?$/)
  expect(await read('spending')).toMatchObject({ spentTodayUsd: '1' })
})

test.each([
  ['false', { tabs: false }],
  ['a limit of the day below the deposit', { limits: { perRequestUsd: '0.5', perDayUsd: '0.9' } }],
  ['a sum to confirm below the deposit', { confirmAboveUsd: '0.9' }],
] as const)('a policy with %s pays each request by itself', async (_name, change) => {
  await writePolicy(folder, { ...policy, ...change })
  expect(await pay('a')).toMatchObject(paid)
  expect(await read('spending')).toMatchObject({ spentTodayUsd: '0.4' })
  expect(await read('balance')).not.toHaveProperty('tabs')
})

test('a host whose recipient is listed gets deposits only for the listed wallet of tabs', async () => {
  const host = new URL(service.baseUrl).host
  const payTo = service.paymentWallet.publicKey.toBase58()
  const hosts = (tabPayTo?: string) => ({ [host]: { payTo, ...(tabPayTo === undefined ? {} : { tabPayTo }) } })
  await writePolicy(folder, { ...policy, hosts: hosts() })
  expect(await pay('a')).toMatchObject(paid)
  await writePolicy(folder, { ...policy, hosts: hosts(payTo) })
  expect(await pay('b')).toMatchObject(paid)
  expect(await read('spending')).toMatchObject({ spentTodayUsd: '0.8' })
  await writePolicy(folder, { ...policy, hosts: hosts(service.tabWallet.publicKey.toBase58()) })
  expect(await pay('c')).toMatchObject(paid)
  expect(await read('spending')).toMatchObject({ spentTodayUsd: '1.8' })
})

const calling = (name: string, values: object) => ({
  url: `${service.baseUrl}/mcp`,
  body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: values } }),
})

test('a call of a tool of the service is paid by the tab, and none opens a tab with a key of the model', async () => {
  const { texts } = await window.call('quote', given('', calling('tools_qrcode', { data: 'a' })))
  expect(JSON.parse(texts[0] ?? '')).toMatchObject({ priceUsd: '0.4' })
  expect(await pay('', calling('tools_qrcode', { data: 'a' }))).toMatchObject(paid)
  expect(await pay('b')).toMatchObject(paid)
  expect(await read('balance')).toMatchObject({ tabs: [{ state: 'open', tokens: '200' }] })
  await writePolicy(folder, { ...policy, limits: { perRequestUsd: '1', perDayUsd: '3' } })
  const theirs = { depositUsd: 1, sessionKey: service.demoWallet.publicKey.toBase58() }
  expect(await pay('', calling('tabs', theirs))).toMatchObject({ isError: true, own: { refused: 'URL_REFUSED' } })
  expect(await read('spending')).toMatchObject({ spentTodayUsd: '1', openPayments: 0 })
})

test('the owner closes the tab of the folder in a shell', async () => {
  expect(await pay('a')).toMatchObject(paid)
  await writePolicy(folder, { ...policy, tabs: false })
  const terminal = await openTerminal()
  const flags = ['--folder', folder.payments, '--wallet', folder.key, '--base-url', service.baseUrl]
  const words = ['tab', 'close', ...flags, '--rpc-url', service.chain.rpcUrl]
  const closed = await terminal.run(payCommand, ...words)
  const shape = z.object({ restBaseUnits: z.string() })
  expect([closed.exitCode, shape.parse(JSON.parse(closed.stdout))]).toEqual([0, { restBaseUnits: '600000000' }])
  expect(await read('balance')).not.toHaveProperty('tabs')
  expect(await pay('b')).toMatchObject(paid)
})
