import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import Koa from 'koa'
import { expect, test } from 'vitest'
import { createPublicDocument, createPublicText } from '../../src/transport/publicDocument.ts'
import { sendPublicBody } from '../../src/transport/sendConditionally.ts'

test('facts that differ in asOf only keep the body and its tag, and others do not', async () => {
  const render = createPublicDocument()
  const first = await render({ burned: 1, asOf: 'noon' })
  expect(first.bytes.toString()).toBe('{"success":true,"data":{"burned":1,"asOf":"noon"}}')
  expect(await render({ burned: 1, asOf: 'later' })).toBe(first)
  const second = await render({ burned: 2, asOf: 'later' })
  expect(second.bytes.toString()).toContain('"burned":2')
  expect(second.entityTag).not.toBe(first.entityTag)
})

test('a text is rendered once for each version', async () => {
  const prepare = createPublicText()
  let renderings = 0
  const render = () => `rendering ${++renderings}`
  for (const version of ['a', 'a', 'b']) await prepare(version, render)
  expect(renderings).toBe(2)
})

test.each([
  [{ 'if-none-match': '"tag"' }, 304],
  [{ 'if-none-match': '"a", W/"tag"' }, 304],
  [{ 'if-none-match': '*' }, 304],
  // `fetch` adds this header to a condition of the program.
  [{ 'if-none-match': '"tag"', 'cache-control': 'no-cache' }, 304],
  [{ 'if-none-match': '"tag"', 'if-modified-since': 'Sat, 28 Nov 2026 05:00:00 GMT' }, 304],
  [{ 'if-none-match': '"tag-br"' }, 200],
  [{ 'if-none-match': 'tag' }, 200],
  [{}, 200],
])('a body whose tag is "tag" answers the condition %o with %i', (headers, status) => {
  const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', headers })
  const context = new Koa().createContext(request, new ServerResponse(request))
  sendPublicBody(context, { bytes: Buffer.from('text'), entityTag: 'tag', coded: new Map() })
  expect(context.status).toBe(status)
})
