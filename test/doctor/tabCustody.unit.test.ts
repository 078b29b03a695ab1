import { expect, test } from 'vitest'
import { judgeCustody } from '../../src/doctor/tabChecks.ts'
import { sampleAddress } from '../store/samplePayment.ts'

const [mint, dollar, wallet, former] = [sampleAddress(), sampleAddress(), sampleAddress(), sampleAddress()]
const amounts = { tabs: 3, heldBaseUnits: 10n, prepaidBaseUnits: 7n, refundsDueBaseUnits: 2n }
const custodyIn = (of: typeof mint, isCovered: boolean) => ({ ...amounts, mint: of, isCovered })

test('a single mint whose tabs are not covered fails the check, and the text has the figures of all mints', () => {
  const figures = 'base units of MINT, 3 tabs 7, refunds due 2'
  const [ofToken, ofDollar] = [mint, dollar].map((of) => `10 ${figures.replace('MINT', of)}`)
  expect(judgeCustody([wallet], [custodyIn(mint, true), custodyIn(dollar, true)])).toEqual({
    verdict: 'ok',
    detail: `${wallet} holds ${ofToken}; ${ofDollar}`,
  })
  expect(judgeCustody([wallet, former], [custodyIn(mint, true), custodyIn(dollar, false)])).toEqual({
    verdict: 'failed',
    detail: `no deposit is sold: ${wallet} and ${former} hold ${ofToken}; ${ofDollar}`,
    fix: 'transfer what is missing from the payment wallet to the wallet for tabs',
  })
})
