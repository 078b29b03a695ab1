import { expect, test } from 'vitest'
import { openPlainServer } from './plainServer.ts'
import { rawRequest } from './rawRequest.ts'

const { port } = await openPlainServer()
const baseUrl = `http://127.0.0.1:${port}`
const post = (accept: string, body = '{"word":"x"}') =>
  fetch(`${baseUrl}/order`, { method: 'POST', headers: { accept, 'content-type': 'application/json' }, body })

test('an error has the members of RFC 9457 next to its own for a caller who lists the media type', async () => {
  const response = await fetch(`${baseUrl}/nowhere`, { headers: { accept: 'Application/Problem+JSON, */*' } })
  expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
  const error = 'this path does not exist; paths are exact and case-sensitive'
  expect(await response.json()).toEqual({
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: error,
    error,
    code: 'NOT_FOUND',
  })
})

test('a refusal of the paywall has them too', async () => {
  const response = await post('application/problem+json')
  expect([response.status, response.headers.get('content-type')]).toEqual([503, 'application/problem+json'])
  expect(await response.json()).toMatchObject({
    title: 'Service Unavailable',
    status: 503,
    code: 'ENDPOINT_UNAVAILABLE',
  })
})

test('a refusal because of load has them too, with its headers', async () => {
  const spent = await openPlainServer({ restSeconds: () => 10 })
  const ask = (accept: string) => rawRequest(spent.port, { method: 'GET', target: '/free', headers: { accept } })
  const { headers, body } = await ask('application/problem+json')
  expect(headers).toMatchObject({ 'content-type': 'application/problem+json', 'retry-after': '10' })
  expect(body).toMatchObject({ title: 'Service Unavailable', status: 503, code: 'OVERLOADED' })
  const usual = await ask('application/json, application/problem+json')
  expect(usual.headers['content-type']).toBe('application/json; charset=utf-8')
})

test('an expectation that is not served has them too', async () => {
  const headers = { accept: 'application/problem+json', expect: 'a-pony' }
  const answer = await rawRequest(port, { method: 'GET', target: '/free', headers })
  expect([answer.status, answer.headers['content-type']]).toEqual([417, 'application/problem+json'])
  expect(answer.body).toMatchObject({ title: 'Expectation Failed', status: 417, code: 'EXPECTATION_FAILED' })
})

test.each([
  ['*/*', '*/*'],
  ['application/json', 'application/json'],
  ['application/problem+json;q=0', 'application/problem+json;q=0'],
  ['of 1,200 characters', `application/problem+json,${'a/b,'.repeat(300)}`],
])('Accept: %s gets the usual body', async (_, accept) => {
  const response = await post(accept)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(Object.keys(Object(await response.json()))).not.toContain('type')
})

test('an answer that is not an error stays as it is', async () => {
  const response = await fetch(`${baseUrl}/free`, { headers: { accept: 'application/problem+json' } })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).not.toContain('problem')
})
