import { expect, test } from 'vitest'
import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID } from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import type { QuoteBody } from '@tollbook/core/wire'
import { checkQuote } from '@tollbook/client/checkQuote'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { type QuoteProblemKind, QuoteRefused } from '@tollbook/client/quoteProblem'
import { openScene, rejectionOf } from './support/payerScene.ts'
import { readPresentedProof } from './support/presentedProof.ts'
import { accountJson, finalTip, lastValidBlockHeight, type ScriptedNode, statusAnswer } from './support/scriptedNode.ts'
import { makeQuote, mint, mintData, network, paymentWallet, tokenAccountData } from './support/testToken.ts'

const crypto = '/api/data/crypto?symbol=BTC'
const stranger = Keypair.generate().publicKey.toBase58()

/** A field of a 402 as another service, or a thief, would write it. */
const tamperings: [string, QuoteProblemKind, (quote: QuoteBody) => unknown][] = [
  ['no amounts', 'malformed', ({ quote: _quote, ...rest }) => rest],
  ['a negative amount', 'malformed', (body) => withQuote(body, { burnBaseUnits: '-1' })],
  [
    'more than an account can hold',
    'malformed',
    (body) => withQuote(body, { transferWithFeeBaseUnits: '18446744073709551616' }),
  ],
  [
    'a transfer of all that an account can hold',
    'transfer_fee_wrong',
    (body) => withQuote(body, { transferWithFeeBaseUnits: '18446744073709551615' }),
  ],
  ['an address that is none', 'malformed', (body) => ({ ...body, paymentWallet: 'someone' })],
  [
    'nothing to pay',
    'sums_wrong',
    (body) => withQuote(body, { requiredBaseUnits: '0', burnBaseUnits: '0', transferBaseUnits: '0' }),
  ],
  ['a transfer that is too high', 'sums_wrong', (body) => withQuote(body, { transferBaseUnits: '14000001' })],
  [
    'more base units than it shows tokens',
    'sums_wrong',
    (body) =>
      withQuote(body, { requiredBaseUnits: '21000000', burnBaseUnits: '6300000', transferBaseUnits: '14700000' }),
  ],
  [
    'tokens shown that are not asked for',
    'sums_wrong',
    (body) => ({ ...body, pricing: { ...body.pricing, requiredTokens: 2 } }),
  ],
  [
    'a burn shown that is not asked for',
    'sums_wrong',
    (body) => ({ ...body, burnInfo: { percentage: 30, tokensToBurn: 7 } }),
  ],
  [
    'a burn below 30 %',
    'burn_too_small',
    (body) => withQuote(body, { burnBaseUnits: '5999999', transferBaseUnits: '14000001' }),
  ],
  [
    'a distribution that does not add up',
    'sums_wrong',
    (body) => ({ ...body, distribution: { ...body.distribution, provider: '51%' } }),
  ],
  [
    'a distribution without a burn',
    'sums_wrong',
    (body) => ({ ...body, distribution: { provider: '95%', treasury: '5%' } }),
  ],
  [
    'another burn in burnInfo than in its distribution',
    'sums_wrong',
    (body) => ({ ...body, burnInfo: { ...body.burnInfo, percentage: 20 } }),
  ],
  [
    'a burn below the one that it announces',
    'burn_too_small',
    (body) => ({
      ...body,
      burnInfo: { ...body.burnInfo, percentage: 30.1 },
      distribution: { ...body.distribution, burn: '30.1%', provider: '49.9%' },
    }),
  ],
  [
    'a price that makes fewer tokens',
    'price_wrong',
    (body) => ({ ...body, pricing: { ...body.pricing, priceUSD: 0.01 } }),
  ],
  ['a token without a price', 'price_wrong', (body) => ({ ...body, pricing: { ...body.pricing, tokenPrice: 0 } })],
  ['the memo of another secret', 'memo_wrong', (body) => withQuote(body, { secret: 'AAAAAAAAAAAAAAAAAAAAAA' })],
  [
    'another endpoint',
    'other_endpoint',
    (body) => ({ ...body, pricing: { ...body.pricing, endpoint: '/api/tools/pdf' } }),
  ],
  ['no endpoint', 'other_endpoint', (body) => ({ ...body, pricing: { ...body.pricing, endpoint: '' } })],
  ['an end in the past', 'expired', (body) => withQuote(body, { expiresAt: '2020-01-01T00:00:00.000Z' })],
  ['another network', 'other_network', (body) => ({ ...body, network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' })],
  [
    'another token program',
    'token_account_wrong',
    (body) => ({ ...body, tokenProgram: TOKEN_2022_PROGRAM_ID.toBase58() }),
  ],
  ['the token program that the mint does not belong to', 'token_program_wrong', asToken2022],
  ['a separate token program', 'token_program_wrong', (body) => ({ ...body, tokenProgram: stranger })],
  ['a token account of another wallet', 'token_account_wrong', (body) => ({ ...body, paymentTokenAccount: stranger })],
  ['other decimals', 'sums_wrong', (body) => withQuote(body, { decimals: 7 })],
  [
    'a fee that the mint does not have',
    'transfer_fee_wrong',
    (body) => withQuote(body, { transferWithFeeBaseUnits: '14000001' }),
  ],
]

// 0.02 USD at 0.001 USD a token are 20,000,000 base units. The last digit of a JSON number may make one more.
test.each([
  [0.019999999, undefined],
  [0.019999998, 'price_wrong'],
  [0.0199999, 'price_wrong'],
] as const)('20 tokens at 0.001 USD for a stated price of %s USD: %s', async (priceUSD, problem) => {
  const { payingFetch, service, url } = await openScene()
  service.quote = (endpoint) => {
    const body = makeQuote({ endpoint, nowMs: Date.now() })
    return { ...body, pricing: { ...body.pricing, priceUSD } }
  }
  if (problem === undefined) expect((await payingFetch(url(crypto))).status).toBe(200)
  else expect(await rejectionOf(payingFetch(url(crypto)))).toMatchObject({ problem })
})

/** Consistent in itself, for a mint that would belong to the other token program. */
function asToken2022(body: QuoteBody): QuoteBody {
  const account = getAssociatedTokenAddressSync(mint, paymentWallet, true, TOKEN_2022_PROGRAM_ID)
  return { ...body, tokenProgram: TOKEN_2022_PROGRAM_ID.toBase58(), paymentTokenAccount: account.toBase58() }
}

function withQuote(body: QuoteBody, change: Partial<QuoteBody['quote']>): QuoteBody {
  return { ...body, quote: { ...body.quote, ...change } }
}

for (const [name, problem, tamper] of tamperings) {
  test(`an offer with ${name} is refused before anything is signed (${problem})`, async () => {
    const { payingFetch, service, wallet, url } = await openScene()
    service.quote = (endpoint) => tamper(makeQuote({ endpoint, nowMs: Date.now() }))
    const error = await rejectionOf(payingFetch(url(crypto)))
    if (!(error instanceof QuoteRefused)) throw error
    expect(error.problem).toBe(problem)
    expect([wallet.signed, service.presented.length]).toEqual([0, 0])
  })
}

const pins: [Partial<PayingFetchOptions>, QuoteProblemKind][] = [
  [{ expectedMint: stranger }, 'other_mint'],
  [{ expectedPaymentWallet: stranger }, 'other_payment_wallet'],
  [{ expectedNetwork: 'solana:other' }, 'other_network'],
  [{ expectedBurnPercent: 29.9 }, 'other_burn'],
]

for (const [pin, problem] of pins) {
  test(`an offer that names another than the payer expects is refused (${problem})`, async () => {
    const { payingFetch, wallet, url } = await openScene(pin)
    expect(await rejectionOf(payingFetch(url(crypto)))).toMatchObject({ problem })
    expect(wallet.signed).toBe(0)
  })
}

test('an offer that names what the payer expects is paid', async () => {
  const expected = {
    expectedMint: mint.toBase58(),
    expectedPaymentWallet: paymentWallet.toBase58(),
    expectedNetwork: network,
    expectedBurnPercent: 30,
    spendingLimit: { perRequest: { baseUnits: 20_000_000n } },
  }
  const { payingFetch, url } = await openScene(expected)
  expect((await payingFetch(url(crypto))).status).toBe(200)
})

/** An offer of a service with another split: consistent, with a burn of 20 %. */
function burningLess(body: QuoteBody): QuoteBody {
  const distribution = { ...body.distribution, burn: '20%', provider: '60%' }
  const burnInfo = { percentage: 20, tokensToBurn: 4 }
  return withQuote({ ...body, distribution, burnInfo }, { burnBaseUnits: '4000000', transferBaseUnits: '16000000' })
}

test.each([
  [{}, 'other_burn'],
  [{ expectedBurnPercent: 30 }, 'other_burn'],
  [{ expectedBurnPercent: 20 }, undefined],
  [{ expectedBurnPercent: 'any' }, undefined],
] as const)('an offer that burns 20 %% is paid only by a payer who accepts that (%o)', async (pin, problem) => {
  const { payingFetch, service, wallet, url } = await openScene(pin)
  service.quote = (endpoint) => burningLess(makeQuote({ endpoint, nowMs: Date.now() }))
  if (problem === undefined) expect((await payingFetch(url(crypto))).status).toBe(200)
  else expect(await rejectionOf(payingFetch(url(crypto)))).toMatchObject({ problem })
  expect(wallet.signed).toBe(problem === undefined ? 1 : 0)
})

const disagreements: [string, QuoteProblemKind, ScriptedNode['token']][] = [
  ['has no such mint', 'other_mint', [null, null]],
  ['has something else at the address of the mint', 'other_mint', [accountJson(Buffer.alloc(12)), null]],
  ['has a mint with other decimals', 'decimals_wrong', [accountJson(withDecimals(9)), null]],
  [
    'has a payment account that was given away',
    'token_account_wrong',
    [accountJson(mintData()), accountJson(tokenAccountData(mint))],
  ],
]

function withDecimals(decimals: number): Buffer {
  const data = mintData()
  // Behind option, authority and supply.
  data[44] = decimals
  return data
}

for (const [name, problem, value] of disagreements) {
  test(`an offer is refused when the chain ${name} (${problem})`, async () => {
    const { payingFetch, service, wallet, url } = await openScene()
    service.node.token = value
    expect(await rejectionOf(payingFetch(url(crypto)))).toMatchObject({ problem })
    expect(wallet.signed).toBe(0)
  })
}

test('the account of the service is created once, and an account that is gone again or another one is refused', async () => {
  const { payingFetch, service, wallet, url } = await openScene()
  service.node.token = [accountJson(mintData()), null]
  service.script = [{ status: 404, body: { error: 'no', code: 'NO_DATA' } }]
  // Not created for certain, until the chain proves that the payment never lands.
  expect(await rejectionOf(payingFetch(url(crypto)))).toMatchObject({ name: 'PaymentUnspent' })
  const other = Keypair.generate().publicKey
  const otherAccount = getAssociatedTokenAddressSync(mint, other).toBase58()
  const honest = service.quote
  service.quote = (endpoint) => {
    const quote = makeQuote({ endpoint, nowMs: Date.now() })
    return { ...quote, paymentWallet: other.toBase58(), paymentTokenAccount: otherAccount }
  }
  expect(await rejectionOf(payingFetch(url(crypto)))).toMatchObject({ problem: 'token_account_missing' })
  service.quote = honest
  const tokenAccountMissing = { problem: 'token_account_missing' }
  expect(await rejectionOf(payingFetch(url(crypto)))).toMatchObject(tokenAccountMissing)
  service.node.answers['getEpochInfo'] = () => finalTip(lastValidBlockHeight + 1)
  service.node.answers['getSignatureStatuses'] = () => statusAnswer('not_found')
  expect((await payingFetch(url(crypto))).status).toBe(200)
  service.node.answers['getSignatureStatuses'] = () => statusAnswer('confirmed')
  expect(await rejectionOf(payingFetch(url(crypto)))).toMatchObject(tokenAccountMissing)
  const instructions = service.presented.map(({ headers }) => {
    const proof = readPresentedProof(String(headers['x-payment-proof']))
    return proof.transaction?.message.compiledInstructions.length
  })
  expect([instructions, wallet.signed]).toEqual([[4, 4], 2])
})

test('a node that does not answer stops the payment before it is signed', async () => {
  const { payingFetch, service, wallet, url } = await openScene()
  service.node.answers['getGenesisHash'] = () => 'broken'
  expect(await rejectionOf(payingFetch(url(crypto)))).toMatchObject({ name: 'Fault', retryable: true })
  expect(wallet.signed).toBe(0)
})

test('an offer for a tool is for the tool of its path, with or without the method in its name', () => {
  const body = makeQuote({ endpoint: '/api/items', nowMs: 0 })
  const offer = { body: { ...body, pricing: { ...body.pricing, method: 'GET' } }, answeredAtMs: 0 }
  const problemFor = (name: string) => {
    const request = { content: { url: 'https://api.example/mcp' }, tool: { name, arguments: {} } }
    const quote = checkQuote({ offer, request, pins: {} })
    return 'problem' in quote ? quote.problem : undefined
  }
  expect(['items', 'items_get', 'items_post', 'other'].map(problemFor)).toEqual([
    undefined,
    undefined,
    'other_endpoint',
    'other_endpoint',
  ])
})

test('a clock of the payer that is an hour off does not make a fresh offer an expired one', async () => {
  const { payingFetch, clock, url } = await openScene()
  await clock.sleep(10_000)
  for (let minute = 0; minute < 360; minute++) await clock.sleep(10_000)
  expect((await payingFetch(url(crypto))).status).toBe(200)
})
