import { expect, test } from 'vitest'
import { whyMaybeBurned } from '../../src/payment/burn.ts'

const burn = (allowanceBaseUnits: bigint) => ({
  parts: [
    { endpoint: '/api/x', baseUnits: 40n },
    { endpoint: '/api/y', baseUnits: 20n },
  ],
  delegate: { allowanceBaseUnits, lamports: 10_000n },
})

test.each([
  ['an unchanged delegate', 'absent', burn(100n), { allowanceBaseUnits: 100n, lamports: 10_000n }, undefined],
  ['a delegate that was funded', 'absent', burn(100n), { allowanceBaseUnits: 100n, lamports: 90_000n }, undefined],
  ['a failed burn that took its fee', 'failed', burn(100n), { allowanceBaseUnits: 100n, lamports: 5_000n }, undefined],
  ['a lower allowance', 'absent', burn(100n), { allowanceBaseUnits: 40n, lamports: 10_000n }, /was 100 .* and is 40/],
  ['a lower allowance', 'failed', burn(100n), { allowanceBaseUnits: 40n, lamports: 5_000n }, /was 100 .* and is 40/],
  [
    'a higher allowance',
    'absent',
    burn(100n),
    { allowanceBaseUnits: 140n, lamports: 10_000n },
    /was 100 .* and is 140/,
  ],
  ['a renewed allowance', 'absent', burn(100n), { allowanceBaseUnits: 100n, lamports: 5_000n }, /paid a network fee/],
  // The owner of the tokens burns without an allowance, so its allowance proves nothing.
  ['an owner as delegate', 'absent', burn(0n), { allowanceBaseUnits: 0n, lamports: 10_000n }, /did not cover/],
] as const)('%s as evidence of a burn that is called %s', (_what, reason, open, now, why) => {
  const found = whyMaybeBurned(open, reason, now)
  if (why === undefined) expect(found).toBeUndefined()
  else expect(found).toMatch(why)
})
