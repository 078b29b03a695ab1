import { expect, test } from 'vitest'
import { describeShortage } from '../../../src/rails/native/describeShortage.ts'

const token = { symbol: 'TOLL', sourceUrl: 'https://exchange.example/toll' }
const needed = { token, mint: 'Mint', decimals: 6, baseUnits: 5_000_000n }
const rich = { baseUnits: 5_000_000n, lamports: 1_000_000_000n }

test('a wallet that has what a payment takes is asked to sign', () => {
  expect(describeShortage(needed, rich)).toBeUndefined()
})

test('a wallet without tokens or SOL reads in tokens and SOL what it lacks, and where the token is', () => {
  const text = describeShortage(needed, { baseUnits: 0n, lamports: 0n })
  expect(text).toBe(
    'you have 0 of 5 TOLL (mint Mint, available at https://exchange.example/toll); you have 0 SOL and need about 0.00001 SOL for the network fee; nothing was signed',
  )
  expect(describeShortage({ ...needed, decimals: 0 }, { ...rich, baseUnits: 4_999_999n })).toContain(
    '4999999 of 5000000',
  )
})

test.each([
  [4_999n, false],
  [5_000n, true],
  [5_001n, false],
  [895_879n, false],
  [895_880n, true],
])('a wallet with %i lamports can pay the fee and stay: %s', (lamports, can) => {
  expect(describeShortage(needed, { ...rich, lamports }) === undefined).toBe(can)
})
