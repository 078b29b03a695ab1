import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { readMppOffer } from '@tollbook/client/sponsored/mppOffer'
import { planSponsored, type SponsorDeps } from '@tollbook/client/sponsored/planSponsored'
import type { OfferQuestion, SponsoredOffer } from '@tollbook/client/sponsored/sponsoredOffer'
import { readX402Offer } from '@tollbook/client/sponsored/x402Offer'

const address = () => Keypair.generate().publicKey.toBase58()
const [mint, dollar, other, payTo, feePayer] = [address(), address(), address(), address(), address()]
const answeredAtMs = Date.parse('2026-11-21T12:00:00.000Z')
const question = (headers: Record<string, string>, mints: Partial<OfferQuestion> = {}): OfferQuestion => ({
  headers: new Headers(headers),
  protocols: ['x402', 'mpp'],
  mint,
  dollarMints: [dollar],
  answeredAtMs,
  ...mints,
})

const details = { network: 'mainnet-beta', feePayer: true, feePayerKey: feePayer }
const charge = (change: object = {}, more: object = {}) => {
  const content = { amount: '5', currency: mint, recipient: payTo, methodDetails: { ...details, ...more }, ...change }
  return Buffer.from(JSON.stringify(content)).toString('base64url')
}
const challenge = (request: string, more = '') =>
  `Payment id="1", method="solana", intent="charge", request="${request}"${more}`
const readMpp = (header: string) => readMppOffer(question({ 'www-authenticate': header }))

test('a charge of MPP is read among other schemes, and lives until its end by the clock of the service', () => {
  const expires = ', expires="2026-11-21T12:00:20.000Z"'
  const header = `Basic realm="a, Payment", ${challenge(charge(), expires)}`
  expect(readMpp(header)).toMatchObject({ amountBaseUnits: 5n, mint, payTo, feePayer, lifetimeMs: 20_000 })
  expect(readMpp(challenge(charge()))).toMatchObject({ lifetimeMs: 60_000, memo: undefined })
  expect(readMpp(challenge(charge({ externalId: 'order 7' })))).toMatchObject({ memo: 'order 7' })
})

test.each<[string, string]>([
  ['parts for others', charge({}, { splits: [{ recipient: other }] })],
  ['a payer who pays the fee', charge({}, { feePayer: false })],
  ['an amount of nothing', charge({ amount: '0' })],
  ['an amount above 64 bits', charge({ amount: '18446744073709551616' })],
  ['a recipient that is not an address', charge({ recipient: 'me' })],
])('a charge of MPP with %s is not read', (_name, request) => {
  expect(readMpp(challenge(request))).toBeUndefined()
})

test('of several offers the one in the expected mint is taken, then one in a dollar, then the first', () => {
  const accept = (asset: string) => ({
    scheme: 'exact',
    network: 'solana:x',
    amount: '5',
    asset,
    payTo,
    maxTimeoutSeconds: 60,
    extra: { feePayer },
  })
  const readX402 = (...assets: string[]) => {
    const required = { x402Version: 2, accepts: [{ scheme: 'upto' }, ...assets.map(accept)] }
    const headers = { 'payment-required': Buffer.from(JSON.stringify(required)).toString('base64') }
    return readX402Offer(question(headers))
  }
  expect(readX402(other, dollar, mint)?.mint).toBe(mint)
  expect(readX402(other, dollar)?.mint).toBe(dollar)
  expect(readX402(other, address())?.mint).toBe(other)
  expect(readX402()).toBeUndefined()
  const [one, two] = [readX402(mint), readX402(mint)]
  expect(one).toMatchObject({ lifetimeMs: 60_000, memo: expect.stringMatching(/^[\w-]{22}$/) })
  expect(two?.memo, 'two equal payments are two transactions').not.toBe(one?.memo)
})

test('a plan is made only for a live offer of the own network that pays another wallet', async () => {
  const wallet = address()
  const facts = {
    network: 'solana:x',
    mint: { tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', decimals: 6 },
    paymentTokenAccount: { state: 'present', owner: payTo },
  }
  const chain = { readToken: () => Promise.resolve(facts) }
  const worth = (cost: object) => cost
  // The plan asks nothing else of a payer.
  const deps = { wallet: { address: wallet }, pins: { expectedMint: mint }, dollarMints: [dollar], chain, worth }
  const offer = readMpp(challenge(charge({}, { network: 'solana:x' })))
  const plan = (change: object) =>
    planSponsored(deps as unknown as SponsorDeps, { ...offer, network: 'solana:x', ...change } as SponsoredOffer)
  expect(await plan({})).toMatchObject({ cost: { baseUnits: 5n, attoUsd: 0n } })
  expect(await plan({ network: undefined })).not.toHaveProperty('problem')
  // Five millionths of a dollar, which count no base units.
  expect(await plan({ mint: dollar })).toMatchObject({ cost: { baseUnits: 0n, attoUsd: 5n * 10n ** 12n } })
  for (const [change, problem] of [
    [{ lifetimeMs: 0 }, 'expired'],
    [{ feePayer: wallet }, 'malformed'],
    [{ payTo: wallet }, 'malformed'],
    [{ network: 'solana:y' }, 'other_network'],
    [{ mint: other }, 'other_mint'],
    [{ payTo: other }, 'token_account_wrong'],
  ] as const)
    expect(await plan(change), problem).toMatchObject({ problem })
})
