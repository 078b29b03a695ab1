import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { connectWallet, type WalletClient } from '@tollbook/agent/client/walletClient'
import { readHostTools } from '@tollbook/agent/mcp/serviceTools'
import { payOnce } from '@tollbook/agent/payOnce'
import { readPolicyFile } from '@tollbook/agent/policy/policyFile'
import { setUp } from '@tollbook/agent/setUp/setUp'
import { type WalletFolder, walletFolder } from '@tollbook/agent/walletFolder'
import type { FetchOrder } from '@tollbook/agent/walletWire'
import { startWallet, type WalletProcess } from '@tollbook/agent/wallet/walletProcess'
import { afterFile } from '../support/afterFile.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { makeAgentFolder, mintOf, type PolicyFileContent, writePolicy } from './support/agentFolder.ts'
import { openWindow } from './support/mcpWindow.ts'

let service: TestService
let folder: WalletFolder
let policy: PolicyFileContent
let wallet: WalletClient
let started: WalletProcess

beforeAll(async () => {
  service = await openTestService()
  const mint = await mintOf(service.baseUrl)
  policy = {
    rpcUrl: service.chain.rpcUrl,
    hosts: { [new URL(service.baseUrl).host]: {} },
    mints: { [mint]: { name: 'TOLL', usdPerToken: '0.001' } },
    limits: { perRequestUsd: '0.02', perDayUsd: '0.06' },
    confirmAboveUsd: '0.01',
  }
  folder = await makeAgentFolder(service.demoWallet.secretKey, policy)
  started = await startWallet({ folder, report: (line) => expect(line).toBe('') })
  afterFile(() => started.close())
  wallet = connectWallet(folder, systemClock)
})

const qrcode = () => ({ url: `${service.baseUrl}/api/tools/qrcode`, method: 'POST', body: '{"data":"hello"}' })

test('a window asks the price, pays it, and reads what was spent', async () => {
  const { call } = await openWindow(wallet)
  expect(JSON.parse((await call('quote', qrcode())).texts[0] ?? '')).toMatchObject({ priceUsd: '0.005', token: 'TOLL' })
  const { isError, texts } = await call('pay_and_fetch', qrcode())
  expect([isError, JSON.parse(texts[0] ?? '')]).toMatchObject([false, { status: 200, paid: { usd: '0.005' } }])
  expect(texts[1]).toContain('"originalData":"hello"')
  const spending = JSON.parse((await call('spending')).texts[0] ?? '')
  expect(spending).toMatchObject({ spentTodayUsd: '0.005', leftTodayUsd: '0.055', payments: 1, openPayments: 0 })
  expect(JSON.parse((await call('receipts')).texts[0] ?? '').receipts).toHaveLength(1)
  expect(JSON.parse((await call('balance')).texts[0] ?? '').tokens).toMatchObject([{ name: 'TOLL', tokens: '99995' }])
})

test('a front end that ends before it confirms an answer gets the answer again, and pays once', async () => {
  const bodyBase64 = Buffer.from('{"data":"lost"}').toString('base64')
  const headers: FetchOrder['headers'] = [['content-type', 'application/json']]
  const order: FetchOrder = { intent: 'pay', url: qrcode().url, method: 'POST', headers, bodyBase64 }
  const first = await wallet.request(order)
  const again = await wallet.request(order)
  expect([again.status, again.payment?.signature]).toEqual([200, first.payment?.signature])
  expect(await wallet.read('/open')).toMatchObject({ open: [{ signature: first.payment?.signature }] })
  await wallet.received(assertPresent(first.payment, 'the answer was paid'))
  expect(await wallet.read('/open')).toEqual({ open: [] })
})

test('the products of a listed service are typed tools, which the wallet pays', async () => {
  const { policy: owned } = await readPolicyFile(folder.policy)
  const hostTools = await readHostTools(wallet, owned)
  const { client, call } = await openWindow(wallet, { hostTools })
  const { tools } = await client.listTools()
  const tool = tools.find(({ name }) => /_post_api_tools_qrcode_/.test(name))
  expect(tool).toMatchObject({ description: expect.stringContaining('0.005 USD'), inputSchema: { required: ['data'] } })
  const names = hostTools.flatMap(({ tools: each }) => each.map(({ path }) => path))
  expect(names.filter((path) => path.startsWith('/x402') || path.startsWith('/mpp'))).toEqual([])
  const { isError, texts } = await call(tool?.name ?? '', { data: 'typed' })
  expect([isError, texts[1]]).toMatchObject([false, expect.stringContaining('"originalData":"typed"')])
  expect((await call(tool?.name ?? '', { data: 5 })).isError).toBe(true)
})

test('init writes a policy once, makes the wallet, and prints what a host needs', async () => {
  const own = walletFolder(join(await makeScratchDirectory(), 'wallet'))
  const local = { baseUrl: service.baseUrl, rpcUrl: service.chain.rpcUrl }
  const init = async (name?: string, folder = own) => {
    const printed: string[] = []
    await setUp({ folder, service: name, rpcUrl: undefined, local, write: (text) => void printed.push(text) })
    return printed.join('')
  }
  const printed = await init(`${service.baseUrl}/`)
  const { policy: written, text } = await readPolicyFile(own.policy)
  expect(Object.keys(written.hosts)).toEqual([new URL(service.baseUrl).host])
  expect(Object.values(written.mints)).toMatchObject([{ usdPerToken: '0.001' }])
  expect(written.limits).toEqual({ perRequestUsd: '0.25', perDayUsd: '1' })
  expect(printed).toMatch(/^wallet {2}[1-9A-HJ-NP-Za-km-z]{32,44}\n/)
  expect(printed).toContain('"mcpServers"')
  expect(printed).toMatch(/npx tollbook faucet [1-9A-HJ-NP-Za-km-z]{32,44} 100\n/)
  expect(written.rpcUrl).toBe(service.chain.rpcUrl)
  const [address] = printed.split('\n')
  expect((await init()).split('\n')[0]).toBe(address)
  // Another service changes neither the policy nor the key.
  await expect(init('https://evil.example')).rejects.toThrow('add "evil.example": {} to its hosts')
  const none = walletFolder(join(await makeScratchDirectory(), 'wallet'))
  await expect(init('http://127.0.0.1:9', none)).rejects.toThrow(/does not answer \(.*\): start the service/)
  await expect(init('api.example.com', none)).rejects.toThrow(
    '--service: api.example.com is not a URL that begins with https://',
  )
  expect((await readPolicyFile(own.policy)).text).toBe(text)
  const modes = await Promise.all([own.policy, own.key].map(async (path) => (await stat(path)).mode & 0o777))
  expect(modes).toEqual([0o600, 0o600])
})

test('a purchase from a shell prints the answer, and a front end survives the restart of the wallet', async () => {
  const printed: string[] = []
  const write = (text: string) => void printed.push(text)
  const order = { method: 'post', url: qrcode().url, json: qrcode().body, maxUsd: undefined }
  const streams = { stdout: { write }, stderr: { write } }
  expect(await payOnce(wallet, order, streams)).toBe(true)
  expect(printed.join('')).toMatch(/"originalData":"hello"[^]*paid 0\.005 USD with \w+/)
  await started.close()
  started = await startWallet({ folder, report: (line) => expect(line).toBe('') })
  expect(await payOnce(wallet, { ...order, maxUsd: '0.001' }, streams)).toBe(false)
  expect(printed.at(-1)).toContain('PRICE_TOO_HIGH')
})

test('a paid answer arrives although its receipt cannot be written', async () => {
  const full = await makeAgentFolder(service.demoWallet.secretKey, policy)
  await mkdir(full.receipts)
  const lines: string[] = []
  const process = await startWallet({ folder: full, report: (line) => void lines.push(line) })
  afterFile(() => process.close())
  const { call } = await openWindow(connectWallet(full, systemClock))
  expect(await call('pay_and_fetch', qrcode())).toMatchObject({ isError: false })
  expect(lines.join()).toContain('EISDIR')
})

test('the folder and the socket belong to the user alone', async () => {
  const modes = await Promise.all(
    [folder.path, folder.socket].map(async (path) => ((await stat(path)).mode & 0o777).toString(8)),
  )
  expect(modes).toEqual(['700', '600'])
})

test('a second process of the folder finds the first and serves nothing', async () => {
  const second = await startWallet({ folder, report: () => undefined })
  expect([second.pid, second.server]).toEqual([process.pid, undefined])
})

test.each([false, true])(
  'a payment above the confirmation sum asks the person first (modern protocol: %s)',
  async (isModern) => {
    await writePolicy(folder, { ...policy, confirmAboveUsd: '0.004' })
    const asked: string[] = []
    const answers = [false, true]
    const onAsked = (message: string) => asked.push(message) > 0 && (answers.shift() ?? false)
    const { call } = await openWindow(wallet, { onAsked, isModern })
    const before = await spending()
    const declined = await call('pay_and_fetch', qrcode())
    expect([declined.isError, declined.texts[0]]).toMatchObject([true, expect.stringContaining('did not agree')])
    expect(await spending()).toEqual(before)
    expect((await call('pay_and_fetch', qrcode())).isError).toBe(false)
    expect(asked).toEqual([asked[0], asked[0]])
    expect(asked[0]).toMatch(/^Pay 0\.005 USD in TOLL to \w+, for a request to 127\.0\.0\.1:\d+\?$/)
  },
)

test('a host that cannot ask its person gets a refusal, and nothing is signed', async () => {
  await writePolicy(folder, { ...policy, confirmAboveUsd: '0.004' })
  const { call } = await openWindow(wallet)
  const before = await spending()
  const { isError, texts } = await call('pay_and_fetch', qrcode())
  expect([isError, JSON.parse(texts[0] ?? '')]).toMatchObject([true, { refused: 'CONFIRMATION_NEEDED' }])
  expect(await spending()).toEqual(before)
  await writePolicy(folder, policy)
})

test('the limit of the day stops the windows at its last base unit, and a lowered limit applies at once', async () => {
  const windows = await Promise.all([1, 2, 3].map(() => openWindow(wallet)))
  const { leftTodayUsd } = await spending()
  const calls = windows.flatMap(({ call }) => [1, 2, 3, 4].map(() => call('pay_and_fetch', qrcode())))
  const answers = await Promise.all(calls)
  const served = answers.filter(({ isError }) => !isError).length
  expect(served).toBe(Math.floor(Number(leftTodayUsd) / 0.005))
  expect(await spending()).toMatchObject({ leftTodayUsd: '0' })
  const refused = answers.find(({ isError }) => isError)
  expect(JSON.parse(refused?.texts[0] ?? '').refused).toBe('LIMIT_REACHED')
  await writePolicy(folder, { ...policy, limits: { ...policy.limits, perDayUsd: '1' } })
  expect((await windows[0]?.call('pay_and_fetch', qrcode()))?.isError).toBe(false)
  await writePolicy(folder, { ...policy, hosts: {} })
  expect(JSON.parse((await windows[0]?.call('pay_and_fetch', qrcode()))?.texts[0] ?? '').refused).toBe(
    'HOST_NOT_LISTED',
  )
  await writePolicy(folder, policy)
})

const spendingShape = z.object({ leftTodayUsd: z.string(), spentTodayUsd: z.string(), openPayments: z.number() })

async function spending() {
  return spendingShape.parse(await wallet.read('/spending'))
}
