import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import Koa from 'koa'
import { expect, test } from 'vitest'
import { headerOf, prefersHtml } from '../../src/transport/requestHead.ts'

test.each([
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', true],
  ['TEXT/HTML', true],
  ['application/json;q=0.5, text/html', true],
  ['*/*', false],
  ['application/json, text/html', false],
  ['application/json, text/html;q=0.9', false],
  ['text/html;q=0', false],
  ['text/html;q=five', false],
  [undefined, false],
])('Accept %s comes from a person: %s', (accept, expected) => {
  expect(prefersHtml(contextOf(accept))).toBe(expected)
})

test('a long Accept is not parsed', () => {
  expect(prefersHtml(contextOf(`text/html,${'a/b,'.repeat(4_000)}`))).toBe(false)
})

test('only the white space of HTTP, which the parser removes, is not part of a value', () => {
  const valueOf = (value: string) =>
    headerOf(
      Object.assign(new IncomingMessage(new Socket()), { headers: { 'x-wallet-address': value } }),
      'x-wallet-address',
    )
  expect([valueOf('address\u00A0'), valueOf('')]).toEqual(['address\u00A0', undefined])
})

function contextOf(accept: string | undefined) {
  const request = Object.assign(new IncomingMessage(new Socket()), { headers: { accept } })
  return new Koa().createContext(request, new ServerResponse(request))
}
