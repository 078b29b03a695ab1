import fc from 'fast-check'
import { expect, test } from 'vitest'
import { feeOf, sentForArrival, type TransferFee } from '@tollbook/core/transferFee'
import { checkQuote, type PayableQuote } from '@tollbook/client/checkQuote'
import type { TokenFacts } from '@tollbook/client/payerChain'
import { planPayment } from '@tollbook/client/planPayment'
import { decimals, makeQuote, network, paymentWallet } from './support/testToken.ts'

const endpoint = '/api/data/crypto'
const url = new URL(`https://pay.example${endpoint}`)

function readQuote(change: object, price: { priceUSD: number; tokenPrice: number }): PayableQuote {
  const honest = makeQuote({ endpoint, nowMs: 0, ...price })
  const body = { ...honest, quote: { ...honest.quote, ...change } }
  const quote = checkQuote({ offer: { body, answeredAtMs: 0 }, request: { content: { url: url.href } }, pins: {} })
  if ('problem' in quote) throw new Error(`${quote.problem}: ${quote.message}`)
  return quote
}

function factsWith(fees: { now: TransferFee; most: TransferFee } | undefined, tokenProgram: string): TokenFacts {
  const mint = { tokenProgram, decimals, ...(fees === undefined ? {} : { transferFee: fees }) }
  return { network, mint, paymentTokenAccount: { state: 'present', owner: paymentWallet.toBase58() } }
}

/** Prices of the list and tokens from a hundredth of a cent to a dollar. */
const price = fc.record({
  priceUSD: fc.constantFrom(0.005, 0.01, 0.02, 0.025, 0.05, 0.08),
  tokenPrice: fc.integer({ min: 1, max: 10_000 }).map((parts) => parts / 10_000),
})
const fee = fc.record({ basisPoints: fc.integer({ min: 0, max: 5_000 }), maximumBaseUnits: fc.bigInt(0n, 10n ** 12n) })

test('an honest quote without a fee is paid as it is, at its price', () => {
  fc.assert(
    fc.property(price, (price) => {
      const quote = readQuote({}, price)
      const plan = planPayment(quote, factsWith(undefined, quote.tokenProgram))
      expect(plan).toMatchObject({
        sentBaseUnits: quote.transferBaseUnits,
        cost: { baseUnits: quote.requiredBaseUnits, attoUsd: quote.priceAttoUsd },
      })
    }),
  )
})

test('with a fee, what is sent is enough for what has to arrive and no more than the scheduled fees explain', () => {
  fc.assert(
    fc.property(price, fee, fee, fc.bigInt(-3n, 3n), (price, now, later, off) => {
      const most = {
        basisPoints: Math.max(now.basisPoints, later.basisPoints),
        maximumBaseUnits: now.maximumBaseUnits > later.maximumBaseUnits ? now.maximumBaseUnits : later.maximumBaseUnits,
      }
      const honest = readQuote({}, price)
      const offered = sentForArrival(honest.transferBaseUnits, now) + off
      fc.pre(offered >= 0n)
      const quote = readQuoteAgain(honest, offered)
      const plan = planPayment(quote, factsWith({ now, most }, quote.tokenProgram))
      const arrives = offered - feeOf(offered, now) >= quote.transferBaseUnits
      const isExplained = offered <= sentForArrival(quote.transferBaseUnits, most)
      expect('problem' in plan ? plan.problem : 'none').toBe(arrives && isExplained ? 'none' : 'transfer_fee_wrong')
      if ('problem' in plan) return
      // The limit is asked about everything that leaves the wallet.
      expect(plan.cost.baseUnits).toBe(quote.burnBaseUnits + offered)
      const { baseUnits, attoUsd } = plan.cost
      // Dollars grow with the base units, rounded up.
      expect(attoUsd * quote.requiredBaseUnits >= quote.priceAttoUsd * baseUnits).toBe(true)
      expect((attoUsd - 1n) * quote.requiredBaseUnits < quote.priceAttoUsd * baseUnits).toBe(true)
    }),
  )
})

function readQuoteAgain(honest: PayableQuote, transferWithFeeBaseUnits: bigint): PayableQuote {
  return { ...honest, transferWithFeeBaseUnits }
}

test('on a mint with a fee, a quote that does not mention it is refused, because it would not be paid by it', () => {
  const quote = readQuote({}, { priceUSD: 0.02, tokenPrice: 0.001 })
  const fees = { basisPoints: 100, maximumBaseUnits: 10n ** 12n }
  expect(planPayment(quote, factsWith({ now: fees, most: fees }, quote.tokenProgram))).toMatchObject({
    problem: 'transfer_fee_wrong',
  })
})

test('one base unit is all burned, and nothing is sent', () => {
  const quote: PayableQuote = {
    ...readQuote({}, { priceUSD: 0.02, tokenPrice: 0.001 }),
    requiredBaseUnits: 1n,
    burnBaseUnits: 1n,
    transferBaseUnits: 0n,
  }
  const fees = { basisPoints: 100, maximumBaseUnits: 10n }
  expect(planPayment(quote, factsWith({ now: fees, most: fees }, quote.tokenProgram))).toMatchObject({
    sentBaseUnits: 0n,
  })
})
