import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chargeOfUse } from '@tollbook/audit/kinds/usedTab'
import { chargeWithin } from '../../src/paywall/chargeByUse.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { samplePrice } from '../store/samplePayment.ts'

const amount = fc.bigInt({ min: 1n, max: 10n ** 9n })
const units = fc.nat({ max: 100_000 })

test('the audit computes the amount that the service charges, and no charge is more than the hold', () => {
  fc.assert(
    fc.property(
      fc.record({ inputPerMillionMicroUsd: amount, outputPerMillionMicroUsd: amount, minimumMicroUsd: amount }),
      fc.record({ input: units, output: units, isEstimated: fc.boolean() }),
      fc.bigInt({ min: 10n ** 6n, max: 10n ** 20n }),
      fc.integer({ min: 0, max: 9 }),
      fc.bigInt({ min: 2n, max: 10n ** 15n }),
      (price, usage, tokenPriceAttoUsd, decimals, heldBaseUnits) => {
        const hold = { ...samplePrice('/api/ai/chat', heldBaseUnits), tokenPriceAttoUsd, decimals }
        const charged = chargeWithin(hold, { price, split: defaultSplit }, usage)
        const wanted = chargeOfUse({ ...price, tokenPriceAttoUsd, decimals, split: [...defaultSplit] }, usage)
        expect(charged.requiredBaseUnits).toBe(wanted < heldBaseUnits ? wanted : heldBaseUnits)
        const parts = charged.shares.reduce((sum, { baseUnits }) => sum + baseUnits, charged.burnBaseUnits)
        expect(parts).toBe(charged.requiredBaseUnits)
      },
    ),
  )
})
