import { CompactSign, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { createFinanceAccess } from '../../src/financeApi/financeAccess.ts'
import { silentLog } from '../../src/machine/log.ts'
import { answersJson, openLoopbackServer } from '../support/loopbackServer.ts'

const issuer = 'https://issuer.test'
const audience = 'tollbook'
const nowSeconds = 1_790_000_000
const clock = { ...systemClock, nowMs: () => nowSeconds * 1000 }
const { publicKey, privateKey } = await generateKeyPair('EdDSA')
const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'EdDSA' }] }
const access = createFinanceAccess({ issuer, audience, keys: { jwks } }, { clock, log: silentLog })

interface Claims {
  readonly exp?: number
  readonly nbf?: number
  readonly sub?: string
  readonly roles?: readonly string[]
}

async function judge(claims: Claims, party: { readonly iss?: string; readonly aud?: string } = {}) {
  const { iss = issuer, aud = audience } = party
  const token = await new SignJWT({ iss, aud, ...claims }).setProtectedHeader({ alg: 'EdDSA' }).sign(privateKey)
  return access.judge({
    authorization: `Bearer ${token}`,
    route: '/finance',
    requestId: 'request_1',
    allowed: ['finance'],
  })
}

const whole = { sub: 'ann', roles: ['finance'], exp: nowSeconds + 60 }

test('a token that names its end and its holder is accepted until its end', async () => {
  expect(await judge(whole)).toEqual({ subject: 'ann', roles: ['finance'] })
  expect(await judge({ ...whole, exp: nowSeconds - 29 })).toMatchObject({ subject: 'ann' })
  expect(await judge({ ...whole, exp: nowSeconds - 31 })).toBe('invalid_token')
})

test.each([
  ['without an end', { sub: 'ann', roles: ['finance'] }, {}],
  ['without a holder', { roles: ['finance'], exp: nowSeconds + 60 }, {}],
  ['of a time to come', { ...whole, nbf: nowSeconds + 120 }, {}],
  ['of another issuer', whole, { iss: 'https://other.test' }],
  ['for another audience', whole, { aud: 'other' }],
])('a token %s is invalid', async (_, claims, party) => {
  expect(await judge(claims, party)).toBe('invalid_token')
})

test('a token of more than 8,000 characters is not read, and a name of more than 100 is cut', async () => {
  expect(await judge({ ...whole, sub: 'a'.repeat(101) })).toMatchObject({ subject: 'a'.repeat(100) })
  expect(await judge({ ...whole, sub: 'a'.repeat(5_000) })).toMatchObject({ subject: 'a'.repeat(100) })
  expect(await judge({ ...whole, sub: 'a'.repeat(6_000) })).toBe('unauthenticated')
})

test('a token without a role of finance is forbidden', async () => {
  expect(await judge({ ...whole, roles: ['sales'] })).toBe('forbidden')
  expect(await judge({ sub: 'ann', exp: nowSeconds + 60 })).toBe('forbidden')
  // The route decides which roles it takes.
  expect(await judge({ ...whole, roles: ['support', 'auditor'] })).toBe('forbidden')
})

/** Signs a payload as it is written: a claims object cannot hold these. */
async function judgeRaw(claims: string) {
  const payload = `{"iss":"${issuer}","aud":"${audience}","roles":["finance"],${claims}}`
  const token = await new CompactSign(new TextEncoder().encode(payload))
    .setProtectedHeader({ alg: 'EdDSA' })
    .sign(privateKey)
  return access.judge({
    authorization: `Bearer ${token}`,
    route: '/finance',
    requestId: 'request_1',
    allowed: ['finance'],
  })
}

test.each([
  ['whose holder is a number', `"sub":7,"exp":${nowSeconds + 60}`],
  ['whose holder is empty', `"sub":"","exp":${nowSeconds + 60}`],
  ['that never ends', '"sub":"ann","exp":1e400'],
])('a token %s is invalid', async (_, claims) => {
  expect(await judgeRaw(`"sub":"ann","exp":${nowSeconds + 60}`)).toMatchObject({ subject: 'ann' })
  expect(await judgeRaw(claims)).toBe('invalid_token')
})

test('refusals of strangers have a bound of lines in the log, and what was left out is counted', async () => {
  let monotonicMs = 0
  const lines: object[] = []
  const log = { ...silentLog, warn: (line: object) => void lines.push(line) }
  const bounded = createFinanceAccess(
    { issuer, audience, keys: { jwks } },
    { clock: { ...clock, monotonicMs: () => monotonicMs }, log },
  )
  const refuse = (requestId: string, authorization?: string) =>
    bounded.judge({ authorization, route: '/finance', requestId, allowed: ['finance'] })
  for (let n = 0; n < 500; n++) expect(await refuse('request_1')).toBe('unauthenticated')
  for (let n = 0; n < 500; n++) expect(await refuse('request_1', 'Bearer junk')).toBe('invalid_token')
  expect(lines).toHaveLength(60)
  monotonicMs = 60_000
  await refuse('request_2')
  expect(lines.slice(60)).toEqual([
    { event: 'finance_access', route: '/finance', requestId: 'request_2', outcome: 'unauthenticated', leftOut: 940 },
  ])
  await refuse('request_3')
  expect(lines.at(-1), 'each is counted as left out once').not.toHaveProperty('leftOut')
})

test('a token is not judged while the identity provider answers without keys', async () => {
  const provider = await openLoopbackServer(answersJson(200, { error: 'in maintenance' }))
  const remote = createFinanceAccess({ issuer, audience, keys: { jwksUrl: provider.url } }, { clock, log: silentLog })
  const token = await new SignJWT({ iss: issuer, aud: audience, ...whole })
    .setProtectedHeader({ alg: 'EdDSA' })
    .sign(privateKey)
  const asked = { route: '/finance', requestId: 'request_1', allowed: ['finance'] } as const
  expect(await remote.judge({ authorization: `Bearer ${token}`, ...asked })).toBe('keys_unavailable')
})
