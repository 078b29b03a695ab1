import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { readProxyRequest } from '@tollbook/agent/proxy/proxyRequest'
import { readOrMakeProxyKey, walletFolder } from '@tollbook/agent/walletFolder'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

const key = 'k-0123456789'
const ask = (path: string, headers: Record<string, string> = {}, method = 'POST') =>
  readProxyRequest({ method, path, port: 8410, key, headers: { host: '127.0.0.1:8410', ...headers } })
const bearer = { authorization: `Bearer ${key}` }

test('the host of the service is the first part of the path, and the key is not passed on', () => {
  expect(
    ask('/api.example.com/v1/chat?x=1', { ...bearer, accept: 'a/b', cookie: 'c=1', 'x-payment-proof': 'p' }),
  ).toEqual({ method: 'POST', url: 'https://api.example.com/v1/chat?x=1', headers: [['accept', 'a/b']] })
  const url = 'http://127.0.0.1:8402/api'
  expect(ask(`/${key}/127.0.0.1:8402/api`, {}, 'GET')).toMatchObject({ url })
  expect(ask('/127.0.0.1:8402/api', { 'x-api-key': key }, 'GET')).toMatchObject({ url })
})

test('headers that clients change when they retry do not make another purchase', () => {
  const first = ask('/api.example.com/v1', { ...bearer, 'user-agent': 'a', 'x-stainless-retry-count': '0' })
  const second = ask('/api.example.com/v1', {
    ...bearer,
    'user-agent': 'b',
    'x-stainless-retry-count': '1',
    traceparent: 't',
  })
  expect(second).toEqual(first)
})

test.each([
  ['no key', {}, '/api.example.com/v1', 401],
  ['a wrong key', { authorization: 'Bearer k-0123456788' }, '/api.example.com/v1', 401],
  ['a wrong key in the path', {}, '/k-0123456788/api.example.com/v1', 401],
  ['a foreign Host, as after DNS rebinding', { ...bearer, host: 'evil.example:8410' }, '/api.example.com/v1', 403],
  ['a Host without the port', { ...bearer, host: '127.0.0.1' }, '/api.example.com/v1', 403],
  ['the origin of a web page', { ...bearer, origin: 'https://evil.example' }, '/api.example.com/v1', 403],
  ['an opaque origin', { ...bearer, origin: 'null' }, '/api.example.com/v1', 403],
  ['a link of a web page', { ...bearer, 'sec-fetch-site': 'cross-site' }, `/${key}/api.example.com/v1`, 403],
  ['a user in the host', bearer, '/good.example@evil.example/v1', 400],
  ['an encoded slash in the host', bearer, '/good.example%2F@evil.example/v1', 400],
  ['an upper-case host', bearer, '/API.example.com/v1', 400],
  ['no host', bearer, '/', 400],
  ['a host of digits', bearer, '/2130706433/v1', 400],
])('%s is refused', (_name, headers, path, status) => {
  expect(ask(path, headers)).toMatchObject({ status })
})

test('a preflight and an unknown method are refused', () => {
  for (const method of ['OPTIONS', 'TRACE', 'CONNECT', 'HEAD'])
    expect(ask('/api.example.com/v1', bearer, method)).toMatchObject({ status: 405 })
})

test('an empty key of the proxy, as a full disk leaves it, is refused and not given to everyone', async () => {
  const folder = walletFolder(await makeScratchDirectory())
  const key = await readOrMakeProxyKey(folder)
  expect(await readOrMakeProxyKey(folder)).toBe(key)
  await writeFile(folder.proxyKey, '\n')
  await expect(readOrMakeProxyKey(folder)).rejects.toThrow('has no key')
})
