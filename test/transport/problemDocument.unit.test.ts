import { expect, test } from 'vitest'
import { openPlainServer } from './plainServer.ts'

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

test.each(['*/*', 'application/json', 'application/problem+json;q=0'])(
  'Accept: %s gets the usual body',
  async (accept) => {
    const response = await post(accept)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(Object.keys(Object(await response.json()))).not.toContain('type')
  },
)

test('an answer that is not an error stays as it is', async () => {
  const response = await fetch(`${baseUrl}/free`, { headers: { accept: 'application/problem+json' } })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).not.toContain('problem')
})
