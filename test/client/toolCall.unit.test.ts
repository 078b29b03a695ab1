import { expect, test } from 'vitest'
import { writeCall } from '@tollbook/client/tool/callBody'
import { carryToolCalls } from '@tollbook/client/tool/toolCall'

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
