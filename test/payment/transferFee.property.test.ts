import { calculateFee } from '@solana/spl-token'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { feeOf, sentForArrival, type TransferFee } from '@tollbook/core/transferFee'

const fees: fc.Arbitrary<TransferFee> = fc.record({
  basisPoints: fc.integer({ min: 0, max: 10_000 }),
  maximumBaseUnits: fc.bigInt({ min: 0n, max: 1n << 40n }),
})
const amounts = fc.oneof(fc.bigInt({ min: 1n, max: 20_000n }), fc.bigInt({ min: 1n, max: 1n << 60n }))

function arrival(sentBaseUnits: bigint, fee: TransferFee): bigint {
  return sentBaseUnits - feeOf(sentBaseUnits, fee)
}

test('the fee is the one that the token program withholds', () => {
  fc.assert(
    fc.property(amounts, fees, (amount, fee) => {
      const { basisPoints: transferFeeBasisPoints, maximumBaseUnits: maximumFee } = fee
      expect(feeOf(amount, fee)).toBe(calculateFee({ epoch: 0n, transferFeeBasisPoints, maximumFee }, amount))
    }),
  )
})

test('what a quote tells to send arrives, and one base unit less would not (I12)', () => {
  fc.assert(
    fc.property(amounts, fees, (arriving, fee) => {
      const sent = sentForArrival(arriving, fee)
      expect(arrival(sent, fee)).toBeGreaterThanOrEqual(arriving)
      expect(arrival(sent - 1n, fee)).toBeLessThan(arriving)
    }),
    { numRuns: 2_000 },
  )
})

test('nothing has to be sent so that nothing arrives: the price of one base unit is burned whole', () => {
  fc.assert(
    fc.property(fees, (fee) => {
      expect(sentForArrival(0n, fee)).toBe(0n)
    }),
  )
})

test.each([
  ['no fee', { basisPoints: 0, maximumBaseUnits: 100n }, 70n, 70n],
  ['1 %', { basisPoints: 100, maximumBaseUnits: 1_000n }, 70n, 71n],
  ['1 %, of which the maximum is 3', { basisPoints: 100, maximumBaseUnits: 3n }, 10_000n, 10_003n],
  ['everything up to a maximum of 5', { basisPoints: 10_000, maximumBaseUnits: 5n }, 70n, 75n],
])('with a fee of %s', (_name, fee, arriving, sent) => {
  expect(sentForArrival(arriving, fee)).toBe(sent)
})
