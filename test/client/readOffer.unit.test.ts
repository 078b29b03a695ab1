import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { readOffer } from '@tollbook/client/readOffer'
import { mint } from './support/testToken.ts'

/* One 402 with an offer of Tollbook in its token, and one of x402 in another mint. */

const token = mint.toBase58()
const dollars = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

function answer(offers: { readonly x402?: string }): Response {
  const accepted = {
    scheme: 'exact',
    network: 'solana:x',
    amount: '20000',
    asset: offers.x402,
    payTo: token,
    maxTimeoutSeconds: 60,
  }
  const required = { x402Version: 2, accepts: [{ ...accepted, extra: { feePayer: dollars } }] }
  const headers = { 'payment-required': Buffer.from(JSON.stringify(required)).toString('base64') }
  return new Response(JSON.stringify({ code: 'PAYMENT_REQUIRED', tokenMint: token }), { status: 402, headers })
}

async function protocolFor(expectedMint: string | undefined, offered = dollars): Promise<string> {
  const reader = { clock: systemClock, isTool: false, protocols: ['x402'] as const, mint: expectedMint }
  const offer = await readOffer(answer({ x402: offered }), reader)
  return offer instanceof Response ? 'none' : (offer.sponsored?.protocol ?? 'tollbook')
}

test('the offer in the mint that the payer expects is read, whichever protocol has it', async () => {
  expect(await protocolFor(token)).toBe('tollbook')
  expect(await protocolFor(dollars)).toBe('x402')
  expect(await protocolFor(undefined)).toBe('tollbook')
})

test('without an offer in that mint, the one of Tollbook is read and refused later', async () => {
  expect(await protocolFor(dollars, token)).toBe('tollbook')
})

test('of two protocols the one with the expected mint is read, whatever their order', async () => {
  const request = { amount: '1', currency: dollars, recipient: token }
  const charge = { ...request, methodDetails: { network: 'x', feePayer: true, feePayerKey: dollars } }
  const coded = Buffer.from(JSON.stringify(charge)).toString('base64url')
  const both = answer({ x402: token })
  both.headers.set('www-authenticate', `Payment id="1", method="solana", intent="charge", request="${coded}"`)
  const protocols = ['x402', 'mpp'] as const
  const offer = await readOffer(both, { clock: systemClock, isTool: false, protocols, mint: dollars })
  expect(offer).toMatchObject({ sponsored: { protocol: 'mpp', mint: dollars } })
})

test('a payer of dollars alone reads the offer in dollars, and never the one in the token', async () => {
  const reader = { clock: systemClock, isTool: false, protocols: ['x402'] as const, mint: undefined }
  const offer = await readOffer(answer({ x402: dollars }), { ...reader, dollarMints: [dollars] })
  expect(offer).toMatchObject({ sponsored: { mint: dollars } })
  const offerTime = Date.parse('2026-11-21T12:00:00.000Z')
  const dated = answer({})
  dated.headers.set('date', new Date(offerTime).toUTCString())
  expect(await readOffer(dated, reader)).toMatchObject({ answeredAtMs: offerTime })
})
