import { describe, expect, test } from 'vitest'
import { corsHeaders } from '../../src/transport/cors.ts'

const rail = { requestHeaders: ['pay-with'], responseHeaders: ['paid-by'] }
const otherRail = { requestHeaders: ['pay-also'], responseHeaders: ['paid-also'] }
const headersFor = corsHeaders({
  rails: [rail, otherRail],
  paths: ['/api/data/crypto', '/artifacts/:name', '/tile/*path'],
})

function ask(path: string, method = 'GET', headers: Readonly<Record<string, string>> = {}) {
  return headersFor({ path, method, header: (name) => headers[name] ?? '' })
}

describe('a page of another origin', () => {
  test.each(['/api/data/crypto', '/artifacts/some.png', '/tile/0/000'])('may read %s, without credentials', (path) => {
    const headers = ask(path)
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers['access-control-expose-headers']).toMatch(/retry-after.*, paid-by, paid-also$/)
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
  })

  test('learns the headers of the rails before it sends them', () => {
    const headers = ask('/api/data/crypto', 'OPTIONS', { 'access-control-request-method': 'GET' })
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'content-type, idempotency-key, pay-with, pay-also',
    })
  })

  test.each(['/api/finance/summary', '/finance', '/metrics', '/api/data/crypto/', '/api/data'])(
    'may not read %s',
    (path) => {
      expect(ask(path)).toEqual({})
      expect(ask(path, 'OPTIONS', { 'access-control-request-method': 'GET' })).toEqual({})
    },
  )
})
