import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { admissionRequestOf, type AdmitDeps, repurpose } from '../../src/transport/admitRequest.ts'
import { createAdmission } from '../../src/transport/admission.ts'
import { createCallerLimits } from '../../src/transport/callerLimits.ts'
import { createConnections } from '../../src/transport/connections.ts'

const admission = createAdmission({ now: () => 0 })
admission.close()
const off = { requestsPerMinute: 0, quotesPerAddressMax: 0, quotesPerWalletMax: 0, openQuotesBytesMax: 0 }
const deps: AdmitDeps = {
  admission,
  connections: createConnections({ connectionsMax: 1, connectionsPerAddressMax: 1 }, admission),
  limits: createCallerLimits(
    { ...off, unknownProofsPerMinute: 0, quoteTtlMs: 1 },
    { nowMs: () => 0, onLimited: () => undefined },
  ),
  sales: { rails: [] },
  findSold: () => undefined,
  messages: [{ path: '/mcp' }],
  trustedProxyHops: 0,
}

function requestOf(url: string, headers: Readonly<Record<string, string>>): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  return Object.assign(request, { url, headers })
}

test.each([
  ['with room for a payment', '/mcp', { 'content-length': '1000' }, 'proof'],
  ['of unknown length', '/mcp', {}, 'proof'],
  ['too small for a payment', '/mcp', { 'content-length': '999' }, 'quote'],
  ['of another path', '/mcp2', { 'content-length': '1000' }, 'read'],
] as const)('before its body is read, a message %s counts for %s %j as %s', (_name, url, headers, purpose) => {
  expect(admissionRequestOf(deps, requestOf(url, headers)).purpose).toBe(purpose)
})

test('the body decides, for the same client address', () => {
  const request = requestOf('/mcp', {})
  const { address } = admissionRequestOf(deps, request)
  repurpose(deps, request, 'read')
  expect(admissionRequestOf(deps, request)).toEqual({ purpose: 'read', address })
})
