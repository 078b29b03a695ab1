import { Keypair } from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import { call, fundedKeypair, openChain, post } from './testChain.ts'

test('a batch is answered member by member, in order, and each member is counted', async () => {
  const { chain } = await openChain()
  const members = [
    { jsonrpc: '2.0', id: 'a', method: 'getHealth' },
    { jsonrpc: '2.0', id: 7, method: 'noSuchMethod', params: [] },
    { jsonrpc: '2.0', method: 'getHealth' },
    { jsonrpc: '2.0', id: null, method: 'getGenesisHash', params: [] },
    'nonsense',
  ]

  const response = await post(chain, JSON.stringify(members))

  expect(await response.json()).toEqual([
    { jsonrpc: '2.0', result: 'ok', id: 'a' },
    { jsonrpc: '2.0', error: { code: -32601, message: 'Method not found' }, id: 7 },
    { jsonrpc: '2.0', result: chain.genesisHash, id: null },
    { jsonrpc: '2.0', error: { code: -32600, message: 'Invalid request' }, id: null },
  ])
  expect(Object.fromEntries(chain.requestCounts())).toEqual({ getHealth: 2, noSuchMethod: 1, getGenesisHash: 1 })
  chain.forgetRequestCounts()
  expect(chain.requestCounts().size).toBe(0)
})

test('web3.js reads many transactions in one batch', async () => {
  const target = await openChain()
  const { chain, connection } = target
  const address = Keypair.generate().publicKey
  const signatures: string[] = []
  for (let index = 0; index < 50; index++) signatures.push(await connection.requestAirdrop(address, 1_000_000))
  chain.advanceSlots(1)

  const found = await connection.getTransactions(signatures, { maxSupportedTransactionVersion: 0 })

  expect(found.map((each) => each?.transaction.signatures[0])).toEqual(signatures)
})

test.each([
  ['no JSON', '{', -32700],
  ['an empty batch', '[]', -32600],
  ['a batch of 257', JSON.stringify(Array.from({ length: 257 }, () => 1)), -32600],
  ['no request', '42', -32600],
  ['another protocol', '{"jsonrpc":"1.0","id":1,"method":"getSlot"}', -32600],
])('%s is answered with a JSON-RPC error', async (_, text, code) => {
  const { chain } = await openChain()

  const response = await post(chain, text)

  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code }, id: null })
})

test.each(['getSlot', 'getBalance'])('%s refuses named parameters under the id of the request', async (method) => {
  const { chain } = await openChain()
  const response = await post(chain, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { a: 1 } }))
  expect(await response.json()).toMatchObject({ error: { code: -32602 }, id: 1 })
})

test.each([
  ['getBalance', []],
  ['getBalance', ['not an address']],
  ['getBalance', [1]],
  ['getBalance', ['1'.repeat(32), 'confirmed']],
  ['getBalance', ['1'.repeat(32), { commitment: 'soon' }]],
  ['getBalance', ['1'.repeat(32), {}, 'more']],
  ['getMultipleAccounts', [Array.from({ length: 101 }, () => '1'.repeat(32))]],
  ['getSignatureStatuses', [Array.from({ length: 257 }, () => '1'.repeat(64))]],
  ['getTransaction', ['1'.repeat(63)]],
  ['getProgramAccounts', ['1'.repeat(32), { filters: Array.from({ length: 5 }, () => ({ dataSize: 1 })) }]],
  ['requestAirdrop', ['1'.repeat(32), -5]],
  ['sendTransaction', ['AAAA', { encoding: 'hex' }]],
])('%s refuses the parameters %j', async (method, params) => {
  const { chain } = await openChain()

  expect((await call(chain, method, ...params)).error?.code).toBe(-32602)
})

test('only JSON by POST is taken, and bodies have a limit', async () => {
  const { chain } = await openChain()

  expect(await (await fetch(`${chain.rpcUrl}/health`)).text()).toBe('ok')
  expect((await fetch(chain.rpcUrl)).status).toBe(405)
  expect((await fetch(chain.rpcUrl, { method: 'POST', body: '{}' })).status).toBe(415)
  expect((await post(chain, 'x'.repeat(512 * 1024 + 1))).status).toBe(413)
  const preflight = await fetch(chain.rpcUrl, { method: 'OPTIONS' })
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
  expect((await post(chain, '{"jsonrpc":"2.0","method":"getHealth"}')).status).toBe(204)
})

describe('a test can make calls fail', () => {
  test('with an error, for as many calls as it says and only for that method', async () => {
    const { chain } = await openChain()
    chain.failRequests({ method: 'getSlot', times: 2, outcome: { code: -32005, message: 'Node is unhealthy' } })

    expect((await call(chain, 'getHealth')).error).toBeUndefined()
    expect((await call(chain, 'getSlot')).error?.code).toBe(-32005)
    expect((await call(chain, 'getSlot')).error?.code).toBe(-32005)
    expect((await call(chain, 'getSlot')).error).toBeUndefined()
  })

  test('with HTTP 503, a cut connection, or silence', async () => {
    const { chain } = await openChain()
    chain.failRequests({ method: 'getSlot', times: 1, outcome: 'unavailable' })
    chain.failRequests({ method: 'getSlot', times: 1, outcome: 'disconnect' })
    chain.failRequests({ method: 'getSlot', times: 1, outcome: 'hang' })
    const body = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}'

    expect((await post(chain, body)).status).toBe(503)
    await expect(post(chain, body)).rejects.toThrow('fetch failed')
    const hanging = post(chain, body)
    expect((await call(chain, 'getSlot')).error).toBeUndefined()
    await chain.close()
    await expect(hanging).rejects.toThrow('fetch failed')
  })

  test('by losing the answer to what was carried out', async () => {
    const target = await openChain()
    const payer = await fundedKeypair(target)
    target.chain.failRequests({ method: 'requestAirdrop', times: 1, outcome: 'disconnect', afterEffect: true })

    await expect(call(target.chain, 'requestAirdrop', payer.publicKey.toBase58(), 5_000_000)).rejects.toThrow()

    expect(await target.connection.getBalance(payer.publicKey)).toBe(10_005_000_000)
  })
})
