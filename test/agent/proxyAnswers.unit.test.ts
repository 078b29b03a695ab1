import { get } from 'node:http'
import { expect, test } from 'vitest'
import { createProxy } from '@tollbook/agent/proxy/proxy'
import type { WalletClient } from '@tollbook/agent/client/walletClient'
import { kindHeader, paymentHeader, refusalCodes } from '@tollbook/agent/walletWire'
import { awaitThat } from '../support/awaitThat.ts'
import { listenOnLoopback, openLoopbackServer } from '../support/loopbackServer.ts'

/* The proxy in front of a wallet of the test, which answers as its script says. */

const socket = await openLoopbackServer((_asked, response) => response.end())
const [received, aborted]: [string[], boolean[]] = [[], []]
const unused = () => Promise.reject(new Error('not called'))
const wallet: WalletClient = {
  request: unused,
  retry: unused,
  read: unused,
  received: ({ signature }) => Promise.resolve(void received.push(signature)),
  open(_order, signal) {
    signal?.addEventListener('abort', () => aborted.push(true))
    return new Promise((resolve, reject) => void get(socket.url, resolve).on('error', reject))
  },
}
const key = 'the key of the proxy'
const reported: string[] = []
const proxy = await listenOnLoopback(createProxy({ wallet, key, report: (line) => void reported.push(line) }))
const address = `${proxy}/localhost:1/v1/chat`
const headers = { authorization: `Bearer ${key}` }

test('a program repeats what may succeed later, and nothing that the owner does not permit', async () => {
  const statuses = new Map<string, number>()
  for (const code of refusalCodes) {
    socket.script((_asked, response) =>
      response.writeHead(502, { [kindHeader]: 'refusal' }).end(JSON.stringify({ code, message: 'because' })),
    )
    const answer = await fetch(address, { headers })
    expect(Object(await answer.json()).error.code).toBe(code)
    statuses.set(code, answer.status)
  }
  const repeated = [...statuses].filter(([, status]) => status === 503).map(([code]) => code)
  expect(repeated).toEqual([
    'PAYMENT_NOT_SENT',
    'PAYMENT_UNRESOLVED',
    'PAYMENT_UNSPENT',
    'UNAVAILABLE',
    'WALLET_STOPPED',
  ])
  expect(new Set(statuses.values())).toEqual(new Set([403, 503]))
})

test('a program that leaves after the last event has its answer, also if the event came in two pieces', async () => {
  const payment = JSON.stringify({ signature: 's', mint: 'm', baseUnits: '1', usd: '1' })
  const [begun, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  socket.script((_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', [kindHeader]: 'answer', [paymentHeader]: payment })
    response.write('data: {"a":1}\n\ndata: [DO')
    void begun.promise.then(() => response.write('NE]\n\n'))
    void left.promise.then(() => response.end('event: receipt\n\n'))
  })
  aborted.length = 0
  const reader = (await fetch(address, { headers })).body?.getReader()
  const read = async () => Buffer.from((await reader?.read())?.value ?? []).toString()
  const first = await read()
  begun.resolve()
  expect(first + (await read())).toBe('data: {"a":1}\n\ndata: [DONE]\n\n')
  await reader?.cancel()
  left.resolve()
  await awaitThat('the payment is closed', () => received.length === 1)
  expect(aborted).toEqual([])
})

test('a program that leaves before it has its whole answer has not received it, so the payment stays open', async () => {
  const payment = JSON.stringify({ signature: 's', mint: 'm', baseUnits: '1', usd: '1' })
  // More than the buffers of both connections take.
  const whole = Buffer.alloc(16 * 1024 * 1024)
  socket.script((_asked, response) =>
    response.writeHead(200, { [kindHeader]: 'answer', [paymentHeader]: payment }).end(whole),
  )
  ;[received.length, reported.length] = [0, 0]
  get(address, { headers }, (response) => response.destroy()).on('error', () => undefined)
  await awaitThat('the answer ends', () => received.length + reported.length > 0)
  expect([received, reported.length]).toEqual([[], 1])
})
