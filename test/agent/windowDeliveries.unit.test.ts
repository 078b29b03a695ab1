import { once } from 'node:events'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { watchDeliveries } from '@tollbook/agent/mcp/deliveries'
import type { WalletClient, WholeAnswer } from '@tollbook/agent/client/walletClient'
import { utf8Bytes } from '@tollbook/core/bytes'
import { openWindow } from './support/mcpWindow.ts'

const paymentOf = (signature: string) => ({ signature, mint: 'm', baseUnits: '5', usd: '0.01' })

/** A wallet with open payments whose services answer these statuses. */
function walletWith(statuses: readonly number[], received: string[] = []): WalletClient {
  const open = statuses.map((status, nth) => ({ signature: `s${nth}`, url: `https://api.example.com/${status}` }))
  const unused = () => Promise.reject(new Error('not called'))
  return {
    request: unused,
    open: unused,
    read: () => Promise.resolve({ open }),
    received: ({ signature }) => Promise.resolve(void received.push(signature)),
    retry(signature): Promise<WholeAnswer> {
      const status = statuses[Number(signature.slice(1))] ?? 0
      const bytes = utf8Bytes(JSON.stringify({ status }))
      return Promise.resolve({ kind: 'answer', status, headers: {}, bytes, payment: paymentOf(signature) })
    },
  }
}

test('a payment is closed after its answer was written to the host, and stays open if that fails', async () => {
  const order: string[] = []
  const transport = {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send: (message: JSONRPCMessage) =>
      'id' in message && message.id === 2
        ? Promise.reject(new Error('the host is gone'))
        : Promise.resolve().then(() => void order.push('written')),
  }
  const deliveries = watchDeliveries(transport, walletWith([], order), () => undefined)
  for (const id of [1, 2]) deliveries.add(id, paymentOf(`s${id}`))
  await transport.send({ jsonrpc: '2.0', id: 1, result: {} })
  await expect(transport.send({ jsonrpc: '2.0', id: 2, result: {} })).rejects.toThrow('the host is gone')
  expect(order).toEqual(['written', 's1'])
})

test('retry presents five open payments at most, and is an error if one of the answers is', async () => {
  const received: string[] = []
  const window = await openWindow(walletWith([200, 500, 200, 200, 200, 200], received))
  const { isError, texts } = await window.call('retry')
  expect([isError, texts.filter((text) => text.includes('"paid"')).length]).toEqual([true, 5])
  expect(received).toEqual(['s0', 's1', 's2', 's3', 's4'])
  expect((await (await openWindow(walletWith([200, 200]))).call('retry')).isError).toBe(false)
  // Even if the first payments stay open, the next call presents the others.
  await window.call('retry')
  expect(received.slice(5)).toEqual(['s5', 's0', 's1', 's2', 's3'])
})

test('a call that the host cancels ends its request to the wallet', async () => {
  const asked = Promise.withResolvers<AbortSignal | undefined>()
  const request: WalletClient['request'] = async (_order, signal) => {
    asked.resolve(signal)
    await once(signal ?? new EventTarget(), 'abort')
    throw new Error('cancelled')
  }
  const window = await openWindow({ ...walletWith([]), request })
  const cancel = new AbortController()
  const given = { name: 'pay_and_fetch', arguments: { url: 'https://api.example.com/' } }
  const called = window.client.callTool(given, { signal: cancel.signal })
  const signal = await asked.promise
  cancel.abort()
  await expect(called).rejects.toThrow()
  await window.client.ping()
  expect(signal?.aborted).toBe(true)
})
