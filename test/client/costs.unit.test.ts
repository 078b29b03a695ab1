import { TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import type { PayableQuote } from '@tollbook/client/checkQuote'
import { createOpenPayments } from '@tollbook/client/openPayments'
import type { PayableRequest } from '@tollbook/client/payableRequest'
import type { Payer } from '@tollbook/client/payer'
import type { PaymentStore } from '@tollbook/client/paymentStore'
import type { PaymentPlan } from '@tollbook/client/planPayment'
import { requireFunds } from '@tollbook/client/requireFunds'
import { settledHeaders } from '@tollbook/client/sponsored/toolOffer'
import { termsIn } from '@tollbook/client/tab/debitTerms'
import { readTokenWorth } from '@tollbook/client/tokenWorth'

const usd = 10n ** 18n

test('a payment counts as the higher of what the service states and what the payer thinks its tokens are worth', () => {
  const worth = readTokenWorth('0.5')
  expect(worth({ attoUsd: usd, baseUnits: 1_000_000n }, 6)).toEqual({ attoUsd: usd, baseUnits: 1_000_000n })
  expect(worth({ attoUsd: usd / 4n, baseUnits: 1_000_000n }, 6).attoUsd).toBe(usd / 2n)
  // A third of a base unit of value is rounded up.
  expect(readTokenWorth('0.000000000000000001')({ attoUsd: 0n, baseUnits: 1n }, 1).attoUsd).toBe(1n)
  expect(readTokenWorth(undefined)({ attoUsd: 3n, baseUnits: 1n }, 6).attoUsd).toBe(3n)
})

test.each([
  ['the dollar of the tab', true, 20_000n],
  ['the token of the tab', false, 9_000_000n],
])('a price of 0.02 USD that asks for nine tokens of %s is debited as %s base units', async (_, isDollar, most) => {
  const mint = Keypair.generate().publicKey.toBase58()
  const quote = { mint, priceAttoUsd: usd / 50n, requiredBaseUnits: 9_000_000n, decimals: 6 }
  // A debit in the quoted token needs no node, unless the payer values the token.
  const chain = { readDecimals: () => (isDollar ? Promise.resolve(6) : Promise.reject(new Error('no node'))) }
  const pins = isDollar ? {} : { expectedMint: mint }
  const payer = { pins, dollarMints: isDollar ? [mint] : [], worth: readTokenWorth(undefined), chain }
  // The terms of a debit read nothing else of a payer and a quote.
  const terms = await termsIn(payer as unknown as Payer, quote as unknown as PayableQuote, mint)
  expect(terms).toMatchObject({ maxBaseUnits: most, cost: { attoUsd: usd / 50n } })
})

test.each([
  [TOKEN_PROGRAM_ID, undefined, 165],
  [TOKEN_2022_PROGRAM_ID, undefined, 170],
  [TOKEN_2022_PROGRAM_ID, 9n, 182],
])('the rent of an account of %s with a fee of %s is that of %i bytes', async (program, withFee, bytes) => {
  const asked: number[] = []
  const wallet = { address: Keypair.generate().publicKey.toBase58() }
  const chain = {
    rentLamports: (size: number) => Promise.resolve(BigInt(asked.push(size))),
    readHoldings: () => Promise.resolve({ heldBaseUnits: 9n, isFrozen: false, lamports: 10n ** 9n }),
  }
  const token = { mint: Keypair.generate().publicKey.toBase58(), tokenProgram: program.toBase58(), decimals: 6 }
  const plan = { quote: { ...token, transferWithFeeBaseUnits: withFee }, cost: { baseUnits: 9n, attoUsd: 0n } }
  // The check of funds reads nothing else of a plan.
  await requireFunds({ chain, wallet }, { ...plan, createsTokenAccount: true } as unknown as PaymentPlan)
  await requireFunds({ chain, wallet }, { ...plan, createsTokenAccount: false } as unknown as PaymentPlan)
  expect(asked).toEqual([bytes, 0, 0])
})

test('a payment that others left is taken only by the same request under the same key', async () => {
  const request = { method: 'GET', url: 'https://api.example/', headers: [] }
  const left = { request, wallet: 'w', idempotencyKey: 'mine', signature: 's' }
  const takeTurn = () => Promise.resolve({ answered: [left], end: () => Promise.resolve() })
  const store = { takeTurn, pending: () => Promise.resolve([]) } as unknown as PaymentStore
  const enter = async (idempotencyKey: string | undefined, wallet = 'w') => {
    const { signal } = new AbortController()
    const asked: PayableRequest = { content: { ...request, headers: [] }, idempotencyKey, signal }
    return (await createOpenPayments(store).enter(asked, wallet)).earlier?.signature
  }
  expect(await Promise.all([enter('mine'), enter(undefined), enter('other'), enter('mine', 'x')])).toEqual([
    's',
    's',
    undefined,
    undefined,
  ])
})

test('a confirmation of a tool result becomes a header, unless it is too long for one', () => {
  const receipt = { success: true }
  const header = Buffer.from(JSON.stringify(receipt)).toString('base64')
  expect(settledHeaders({ 'x402/payment-response': receipt })).toEqual([['payment-response', header]])
  expect(settledHeaders({ 'org.paymentauth/receipt': receipt })).toEqual([['payment-receipt', header]])
  expect(settledHeaders({ 'x402/payment-response': { ...receipt, more: 'x'.repeat(16_384) } })).toEqual([])
})
