import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { InsufficientFunds } from '@tollbook/client/insufficientFunds'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { openScene, rejectionOf, type Scene } from './support/payerScene.ts'
import { accountJson, type ScriptedNode } from './support/scriptedNode.ts'
import { makeQuote, mint, mintData, paymentWallet } from './support/testToken.ts'

/* The price of the scripted service is 20 tokens: 20,000,000 base units. */

const crypto = '/api/data/crypto?symbol=BTC'
const rich = { baseUnits: 1_000_000_000n }

async function refusalFor(
  payer: ScriptedNode['payer'],
  options: Partial<PayingFetchOptions> = {},
): Promise<InsufficientFunds> {
  const scene = await openScene(options)
  scene.service.node.payer = payer
  return refusalIn(scene)
}

async function refusalIn({ payingFetch, wallet, service, url }: Scene): Promise<InsufficientFunds> {
  const error = await rejectionOf(payingFetch(url(crypto)))
  if (!(error instanceof InsufficientFunds)) throw error
  expect([wallet.signed, service.presented.length, service.node.sent.length]).toEqual([0, 0, 0])
  return error
}

test('for a wallet without tokens the error says how many it has and needs, in tokens, before anything is signed', async () => {
  const nothing = await refusalFor({ tokens: 'no account', lamports: 1_000_000_000 })
  expect(nothing.message).toContain('you have 0 of 20 tokens')
  expect(nothing.message).toContain(`mint ${mint.toBase58()}`)
  expect(nothing.message).toContain('nothing was signed')
  expect(nothing.message).not.toMatch(/base units|slot|AccountNotFound/)
  expect(nothing).toMatchObject({ missing: ['tokens'], heldBaseUnits: 0n, requiredBaseUnits: 20_000_000n })
  const few = await refusalFor({ tokens: { baseUnits: 19_999_999n }, lamports: 1_000_000_000 })
  expect(few.message).toContain('you have 19.999999 of 20 tokens')
})

test('for a wallet without SOL the error says about how much it needs, and what it lacks of both at once', async () => {
  const error = await refusalFor({ tokens: rich, lamports: 0 })
  expect(error.message).toContain('you have 0 SOL and need about 0.00001 SOL')
  expect(error.missing).toEqual(['SOL'])
  const both = await refusalFor({ tokens: 'no account', lamports: 0 })
  expect(both.message).toContain('you have 0 of 20 tokens')
  expect(both.message).toContain('you have 0 SOL and need about 0.00001 SOL')
  expect(both.missing).toEqual(['tokens', 'SOL'])
})

test('the rent of the token account of the service is part of the SOL that is needed', async () => {
  const scene = await openScene()
  const { node } = scene.service
  node.token = [accountJson(mintData()), null]
  node.payer = { tokens: rich, lamports: 2_044_279 }
  expect((await refusalIn(scene)).message).toContain('need about 0.0021 SOL')
  node.payer = { tokens: rich, lamports: 2_044_280 }
  expect((await scene.payingFetch(scene.url(crypto))).status).toBe(200)
})

test.each([
  ['nothing left', 5_000, true],
  ['less left than a wallet may keep', 5_000 + 890_879, false],
  ['as much left as a wallet has to keep', 5_000 + 890_880, true],
])('a wallet with %s after the fee of %i lamports signs: %s', async (_name, lamports, signs) => {
  const scene = await openScene()
  scene.service.node.payer = { tokens: { baseUnits: 20_000_000n }, lamports }
  if (signs) expect((await scene.payingFetch(scene.url(crypto))).status).toBe(200)
  else expect((await refusalIn(scene)).message).toContain('keeps at least 0.00089088 SOL')
})

test('tokens that the wallet cannot move do not count: frozen, or in an account given to another wallet', async () => {
  const frozen = await refusalFor({ tokens: { ...rich, isFrozen: true }, lamports: 1_000_000_000 })
  expect(frozen.message).toContain('frozen')
  const given = await refusalFor({ tokens: { ...rich, owner: Keypair.generate().publicKey }, lamports: 1_000_000_000 })
  expect(given.message).toContain('you have 0 of 20 tokens')
})

test('the token is called by the name of the offer, and its source is named; neither can carry anything else', async () => {
  const scene = await openScene()
  scene.service.node.payer = { tokens: 'no account', lamports: 1_000_000_000 }
  const offer = (more: object) => {
    scene.service.quote = (endpoint) => ({ ...makeQuote({ endpoint, nowMs: Date.now() }), ...more })
    return refusalIn(scene)
  }
  const honest = await offer({ tokenSymbol: 'TOLL', tokenSourceUrl: 'https://exchange.example/toll' })
  expect(honest.message).toContain('you have 0 of 20 TOLL')
  expect(honest.message).toContain('https://exchange.example/toll')
  const hostile = await offer({ tokenSymbol: '\u001B[31mSOL\n', tokenSourceUrl: 'javascript:alert(1)' })
  expect(hostile.message).toContain('you have 0 of 20 tokens')
  expect(hostile.message).not.toContain('javascript')
})

function x402Offer(asset: string) {
  const feePayer = Keypair.generate().publicKey.toBase58()
  const network = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
  const payTo = paymentWallet.toBase58()
  const entry = { scheme: 'exact', network, amount: '20000000', asset, payTo, maxTimeoutSeconds: 60 }
  const required = { x402Version: 2, accepts: [{ ...entry, extra: { feePayer } }] }
  const headers = { 'payment-required': Buffer.from(JSON.stringify(required)).toString('base64') }
  return { status: 402, body: { error: 'pay' }, headers }
}

test('a sponsored payment needs tokens and no SOL', async () => {
  const scene = await openScene({
    protocols: ['x402'],
    expectedMint: mint.toBase58(),
    expectedNetwork: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    spendingLimit: { perRequest: { baseUnits: 20_000_000n } },
    retry: { attemptsMax: 1 },
  })
  scene.service.quote = () => x402Offer(mint.toBase58())
  scene.service.node.payer = { tokens: { baseUnits: 19_999_999n }, lamports: 0 }
  const error = await refusalIn(scene)
  expect(error.message).toContain('you have 19.999999 of 20 tokens')
  expect(error.missing).toEqual(['tokens'])
  scene.service.node.payer = { tokens: { baseUnits: 20_000_000n }, lamports: 0 }
  expect(await rejectionOf(scene.payingFetch(scene.url(crypto)))).toMatchObject({ name: 'PaymentUnresolved' })
  expect(scene.wallet.signed).toBe(1)
})
