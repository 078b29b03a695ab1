import { expect, test } from 'vitest'
import { writeCall } from '@tollbook/client/tool/callBody'
import { readRequest } from '@tollbook/client/payableRequest'
import { carryToolCalls, payToolCall } from '@tollbook/client/tool/toolCall'

const body = Uint8Array.from(writeCall({ name: 'tool', arguments: {}, _meta: {} }))
const call = (answer: Response) => carryToolCalls(() => Promise.resolve(answer))('https://a.example/mcp', { body })

test.each([200, 500])('an answer to a tool call with status %s that does not end is given up', async (status) => {
  const megabyte = new Uint8Array(1024 * 1024)
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(megabyte) })
  await expect(call(new Response(endless, { status }))).rejects.toThrow('longer than')
})

test('an answer without a body, and one with another status than 200, are passed on', async () => {
  expect((await call(new Response(null, { status: 204 }))).status).toBe(204)
  const refused = await call(new Response('no', { status: 500, headers: { 'retry-after': '3' } }))
  expect([refused.status, await refused.text(), refused.headers.get('retry-after')]).toEqual([500, 'no', '3'])
})

test('a repeated tool call is the same request, although its id and its trace differ', async () => {
  const contentOf = async (id: number, meta: object) => {
    const message = {
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'tool', arguments: { a: 1 }, _meta: meta },
    }
    const request = await readRequest('https://a.example/mcp', { method: 'POST', body: JSON.stringify(message) })
    const seen: unknown[] = []
    const answer = await payToolCall(request, ({ content, idempotencyKey, tool }) => {
      seen.push([content, idempotencyKey, tool])
      return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 0, result: {} }))
    })
    expect(await answer.json()).toEqual({ jsonrpc: '2.0', id, result: {} })
    return seen
  }
  const trace = (text: string) => ({ progressToken: text, traceparent: text, tracestate: text, baggage: text })
  const first = await contentOf(1, { ...trace('a'), own: 'x' })
  expect(await contentOf(2, { ...trace('b'), own: 'x' })).toEqual(first)
  expect(await contentOf(3, { ...trace('b'), own: 'y' })).not.toEqual(first)
  expect(await contentOf(4, { own: 'x', 'tollbook/idempotency-key': 'mine' })).toMatchObject([
    [Object(first[0])[0], 'mine', {}],
  ])
})

test('an unpaid call is status 200 for its client, which does not read the body of a 402', async () => {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'tool' } })
  const request = await readRequest('https://a.example/mcp', { method: 'POST', body: text })
  const statusOf = async (status: number, message: object) =>
    (await payToolCall(request, () => Promise.resolve(Response.json({ jsonrpc: '2.0', ...message }, { status }))))
      .status
  expect(await statusOf(402, { error: { code: -32042 } })).toBe(200)
  expect(await statusOf(500, { error: { code: 1 } })).toBe(500)
  expect(await statusOf(500, { result: {} })).toBe(200)
})
