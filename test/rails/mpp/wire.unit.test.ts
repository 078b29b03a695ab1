import fc from 'fast-check'
import { expect, test } from 'vitest'
import { acceptsCharge, bringsCredential, namesScheme, readCredential } from '../../../src/rails/mpp/wire.ts'
import { encode, openRailParts, parseChallenge } from './mppFixture.ts'

test('a description is a quoted string of printable ASCII', async () => {
  const { headers } = await openRailParts().offer()
  const header = headers['www-authenticate'] ?? ''
  expect(header).toMatch(/^Payment id="[\x20-\x7e]*$/)
  expect(header).toContain(String.raw`description="A \"QR\" code \u2013 \\ as SVG"`)
  expect(parseChallenge(header)).toMatchObject({ realm: 'api.example', method: 'solana', intent: 'charge' })
})

test('a 402 to a caller who asks for problem details has both kinds of members', async () => {
  const { headers, members } = await openRailParts().offer({ headers: { accept: 'application/problem+json' } })
  expect(headers['content-type']).toBe('application/problem+json')
  expect(members).toMatchObject({ type: 'https://paymentauth.org/problems/payment-required', status: 402 })
})

test.each([
  ['solana/charge', true],
  ['tempo/charge;q=0.9, Solana/Charge;q=0.5', true],
  ['*/*;q=0.1', true],
  ['solana/*', true],
  ['solana/charge;q=0', false],
  ['solana/charge; q=0.00', false],
  ['solana/session', false],
  ['solana/charges', false],
  [`${'tempo/charge,'.repeat(16)}solana/charge`, false],
])('Accept-Payment: %s is taken as %s', (preferences, isTaken) => {
  expect(acceptsCharge(preferences)).toBe(isTaken)
})

test.each([
  ['Payment abc', true],
  ['payment', true],
  ['Bearer x, Payment abc', true],
  ['Payments abc', false],
  ['Bearer payment', false],
  ['', false],
])('Authorization: %j names the scheme: %s', (header, expected) => {
  expect(namesScheme(header)).toBe(expected)
})

test.each([
  [`Payment ${encode({ challenge: {} })}`, true],
  [`Bearer x, payment ${encode({})}`, true],
  [`Payment ${encode({ challenge: {} }).slice(0, -4)}`, true],
  ['Payment M01XTXdKeTMzVDVlWHlkeVpEUWNCWTZ4', false],
  [`Payment ${encode([])}`, false],
  ['Payment pay-me', false],
  ['Payment', false],
  ['', false],
])('Authorization: %j brings a credential: %s', (header, expected) => {
  expect(bringsCredential(header)).toBe(expected)
})

test('no header makes the reader throw', () => {
  const header = fc.oneof(
    fc.string(),
    fc.base64String().map((text) => `Payment ${text}`),
    fc.object().map((content) => `Payment ${encode(content)}`),
  )
  fc.assert(fc.property(header, (text) => readCredential(text) === undefined))
})
