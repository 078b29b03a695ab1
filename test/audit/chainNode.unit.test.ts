import { expect, test, vi } from 'vitest'
import { createChainNode } from '../../packages/audit/src/chainNode.ts'
import { hostClock } from '@tollbook/audit/clock'

/* The auditor's client of a Solana node, on answers that the test writes. */

test('the balance of a token account is its amount, and nothing for an account that does not exist', async () => {
  const data = Buffer.alloc(165, 1)
  data.writeBigUInt64LE(2n ** 64n - 1n, 64)
  const answers = [{ data: [data.toString('base64'), 'base64'] }, null]
  const asked: unknown[] = []
  const node = createChainNode({
    rpcUrl: 'http://node.invalid',
    fetch: (_url, init) => {
      asked.push(JSON.parse(typeof init?.body === 'string' ? init.body : '').params)
      return Promise.resolve(Response.json({ result: { value: answers[asked.length - 1] } }))
    },
    clock: hostClock,
  })
  expect([await node.balanceOf('account'), await node.balanceOf('account')]).toEqual([2n ** 64n - 1n, 0n])
  expect(asked[0]).toEqual(['account', { commitment: 'confirmed', encoding: 'base64' }])
})

test('an answer of a node of more than 16 MiB is not parsed', async () => {
  const asked: number[] = []
  const nodeThatPads = (bytes: number) =>
    createChainNode({
      rpcUrl: 'http://node.invalid',
      fetch: () => Promise.resolve(new Response(`{"result":7,"pad":"${' '.repeat(bytes)}"}`)),
      clock: { monotonicMs: () => 0, sleep: (ms) => Promise.resolve(void asked.push(ms)) },
    }).firstSlot()
  expect(await nodeThatPads(1_000)).toBe(7)
  await expect(nodeThatPads(16 * 1024 * 1024)).rejects.toThrow('did not answer getFirstAvailableBlock usably')
  expect(asked).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000])
})

test('a node that hangs is reported with the question it hangs on, while the audit waits', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const { promise, resolve } = Promise.withResolvers<Response>()
    const onTrouble = vi.fn()
    const node = createChainNode({ rpcUrl: 'http://node', fetch: () => promise, clock: hostClock, onTrouble })
    const slot = node.firstSlot()
    vi.advanceTimersByTime(4_999)
    expect(onTrouble).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(onTrouble.mock.calls).toEqual([['getFirstAvailableBlock']])
    resolve(Response.json({ result: 7 }))
    expect(await slot).toBe(7)
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
