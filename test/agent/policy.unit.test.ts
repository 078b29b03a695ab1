import { chmod } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { PolicyProblem, readPolicy } from '@tollbook/agent/policy/policy'
import { readPolicyFile } from '@tollbook/agent/policy/policyFile'
import { createPurchases, type PurchasesDeps } from '@tollbook/agent/wallet/purchases'
import { type FetchOrder, fetchOrder } from '@tollbook/agent/walletWire'
import { tabOptionFor } from '@tollbook/agent/policy/tabOption'
import { openLoopbackServer } from '../support/loopbackServer.ts'
import { makeAgentFolder, writePolicy } from './support/agentFolder.ts'

const mint = 'So11111111111111111111111111111111111111112'
const good = {
  rpcUrl: 'https://node.example.com',
  hosts: { 'api.example.com': {} },
  mints: { [mint]: { name: 'TOLL', usdPerToken: '0.001' } },
}

function mistakesOf(content: unknown): readonly string[] {
  try {
    readPolicy(JSON.stringify(content), 'policy.json')
    return []
  } catch (error) {
    if (error instanceof PolicyProblem) return error.mistakes
    throw error
  }
}

test('a short policy has small limits', () => {
  expect(readPolicy(JSON.stringify(good), 'policy.json').limits).toEqual({ perRequestUsd: '0.25', perDayUsd: '1' })
})

test('two mints with one name are refused, because a person is asked by the name', () => {
  const other = { '11111111111111111111111111111111': { name: 'toll', usdPerToken: '1' } }
  expect(mistakesOf({ ...good, mints: { ...good.mints, ...other } })).toEqual([
    'mints: must have a different name for each mint, because a person is asked by the name',
  ])
})

test('all mistakes are named at once', () => {
  const mistakes = mistakesOf({
    rpcUrl: 'file:///etc/passwd',
    hosts: {
      'API.example.com': {},
      'a/b': {},
      'good@evil.example': {},
      'api.example.com:443': {},
      'münchen.example': {},
    },
    mints: { nonsense: { name: 'x', usdPerToken: 0.001 } },
    limits: { perRequestUsd: '-1', perDayUsd: '1e3', everything: '1' },
    confirmAbove: '1',
    tabs: { depositUsd: 3 },
  })
  const starts = [
    'rpcUrl',
    'hosts.API',
    'hosts.a/b',
    'hosts.good@',
    'hosts.api.example.com:443',
    'hosts.münchen',
    'mints.nonsense',
    'limits.perRequestUsd',
    'limits.perDayUsd',
    'limits',
    'tabs',
    'the file',
  ]
  expect(starts.filter((start) => !mistakes.some((mistake) => mistake.startsWith(start)))).toEqual([])
  expect(mistakes).toContain("hosts.API.example.com: must be 'api.example.com' (got 'API.example.com')")
  expect(mistakes).toContain('mints.nonsense: must be a Solana address')
})

test('an amount with a zero in front is a mistake of the file or the call, not a fault at each payment', () => {
  expect(mistakesOf({ ...good, limits: { perRequestUsd: '01.5' } })).toEqual([expect.stringContaining('perRequestUsd')])
  const order = { intent: 'pay', method: 'GET', url: 'https://api.example.com/', headers: [] }
  for (const [maxUsd, success] of [
    ['00.05', false],
    ['0.05', true],
    ['999999999.5', true],
  ] as const)
    expect(fetchOrder.safeParse({ ...order, maxUsd }), maxUsd).toMatchObject({ success })
})

test.each([
  ['no mint', { ...good, mints: {} }],
  ['a mint without a worth', { ...good, mints: { [mint]: { name: 'x' } } }],
  ['a worthless mint', { ...good, mints: { [mint]: { name: 'x', usdPerToken: '0.000' } } }],
  ['a name that could instruct a model', { ...good, mints: { [mint]: { name: 'x"; ignore all', usdPerToken: '1' } } }],
  ['a recipient that is not an address', { ...good, hosts: { 'api.example.com': { payTo: 'me' } } }],
  ['no object', 'text'],
])('%s is a mistake', (_name, content) => {
  expect(mistakesOf(content)).not.toEqual([])
})

test('a policy that another user could change is refused, and one that is missing says how to write it', async () => {
  const folder = await makeAgentFolder(new Uint8Array(64), good)
  expect((await readPolicyFile(folder.policy)).policy.rpcUrl).toBe(good.rpcUrl)
  await chmod(folder.policy, 0o620)
  await expect(readPolicyFile(folder.policy)).rejects.toThrow('can be written by other users')
  await writePolicy(folder, { ...good, rpcUrl: 5 })
  await chmod(dirname(folder.policy), 0o777)
  const both = /can be written by other users[^]*rpcUrl/
  await expect(readPolicyFile(folder.policy)).rejects.toThrow(both)
  await expect(readPolicyFile(`${folder.policy}.none`)).rejects.toMatchObject({ isMissing: true })
})

test.each([
  ['perDayUsd', { limits: { perDayUsd: '0.99' } }],
  ['perHostUsd', { limits: { perHostUsd: '0.99' } }],
  ['totalUsd', { limits: { totalUsd: '0.99' } }],
  ['confirmAboveUsd', { confirmAboveUsd: '0.99' }],
])('no deposit of 1 dollar is made above %s', (_name, limits) => {
  const optionOf = (more: object) =>
    tabOptionFor(readPolicy(JSON.stringify({ ...good, ...more }), 'policy.json'), 'api.example.com')
  expect([optionOf({})?.depositUsd, optionOf(limits)]).toEqual([1, undefined])
  // A deposit of a stated size needs no further consent.
  const stated = optionOf({ ...limits, tabs: { depositUsd: 1 } })
  expect(stated?.depositUsd).toBe('confirmAboveUsd' in limits ? 1 : undefined)
})

test.each(['bank@', 'bank:secret@', ':secret@'])('a URL with %s in front of a listed host is refused', async (user) => {
  const text = JSON.stringify(good)
  const deps = { readPolicy: () => Promise.resolve({ policy: readPolicy(text, 'policy.json'), text }) }
  // The wallet and its folder are missing: a request that is refused reaches neither.
  const purchases = createPurchases(Object.assign(Object.create(null), deps))
  const order: FetchOrder = { intent: 'pay', method: 'GET', url: `https://${user}api.example.com/a`, headers: [] }
  await expect(purchases.make(order, new AbortController().signal)).rejects.toMatchObject({
    refusal: { code: 'URL_REFUSED' },
  })
})

test('the fragment of a URL is not a part of its request, because the service does not see it', async () => {
  const text = JSON.stringify({ ...good, rpcUrl: 'http://127.0.0.1:9' })
  const service = await openLoopbackServer((_asked, response) => void response.end('free'))
  const policy = readPolicy(text, 'policy.json')
  const { host } = new URL(service.url)
  const deps = {
    readPolicy: () => Promise.resolve({ policy: { ...policy, hosts: { [host]: { tools: true } } }, text }),
  }
  const taken: string[] = []
  const store = {
    takeTurn: (order: string) => Promise.resolve({ answered: [], end: () => Promise.resolve(void taken.push(order)) }),
    pending: () => Promise.resolve([]),
  }
  const wallet = { address: mint, signTransaction: () => Promise.reject(new Error('not called')) }
  // A free answer needs nothing else of the folder.
  const purchases = createPurchases({ ...deps, wallet, answered: { store } } as unknown as PurchasesDeps)
  for (const place of ['', '#one']) {
    const order: FetchOrder = { intent: 'quote', method: 'GET', url: `${service.url}/a${place}`, headers: [] }
    expect((await purchases.make(order, new AbortController().signal)).payment).toBeUndefined()
  }
  expect(new Set(taken).size).toBe(1)
})

test.each(['tabs', 'tabs_post'])(
  'a call of the tool %s is refused, because its offer may not name the product',
  async (name) => {
    const text = JSON.stringify(good)
    const deps = { readPolicy: () => Promise.resolve({ policy: readPolicy(text, 'policy.json'), text }) }
    // The wallet and its folder are missing: a request that is refused reaches neither.
    const purchases = createPurchases(Object.assign(Object.create(null), deps))
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { depositUsd: 1 } } }
    const bodyBase64 = Buffer.from(JSON.stringify(call)).toString('base64')
    const url = 'https://api.example.com/mcp'
    const order: FetchOrder = { intent: 'pay', method: 'POST', url, headers: [], bodyBase64 }
    await expect(purchases.make(order, new AbortController().signal)).rejects.toMatchObject({
      refusal: { code: 'URL_REFUSED' },
    })
  },
)
