import { expect, test } from 'vitest'
import { postJson } from '../../src/outbound/postJson.ts'
import { answersJson, openLoopbackServer } from '../support/loopbackServer.ts'

const server = await openLoopbackServer(answersJson(200, { result: 1 }))
const ask = (answerBytesMax?: number) =>
  postJson(server.url, '{"id":1}', { timeoutMs: 10_000, ...(answerBytesMax === undefined ? {} : { answerBytesMax }) })

test('only an answer of 2xx is an answer: a redirect is not followed, and its body is not used', async () => {
  expect(await ask()).toEqual({ result: 1 })
  expect(server.asked.at(-1)).toMatchObject({ method: 'POST', body: '{"id":1}' })
  for (const status of [301, 307, 404, 500]) {
    server.script(answersJson(status, { result: 2 }, { location: '/moved' }))
    await expect(ask()).rejects.toThrow(`HTTP ${status}`)
  }
  expect(server.asked.filter(({ path }) => path === '/moved')).toEqual([])
})

test('an answer may have the most bytes that are permitted, and one more is a fault that is not retried', async () => {
  server.script(answersJson(200, { a: 1 }))
  expect(await ask(7)).toEqual({ a: 1 })
  await expect(ask(6)).rejects.toMatchObject({ retryable: false })
})
