import { expect, test } from 'vitest'
import { findLedgerMint, readLedgerMints, UnknownMint } from '../../src/store/ledgerMints.ts'
import { sampleAddress } from './samplePayment.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const [token, ...tokens] = Array.from({ length: 28 }, sampleAddress)
const mints = [token ?? usdc, usdc, ...tokens]

/** A ledger of these mints. The decimals of a mint are its place. */
const database = scriptedDatabase((statement, values) => {
  if (statement.includes('recursive')) return mints.map((mint) => ({ mint }))
  return [{ decimals: mints.findIndex((mint) => values.includes(mint)) }]
})

test('the token and further mints have names without digits, and a known dollar has its symbol', async () => {
  const ledgerMints = await readLedgerMints(database)
  expect(ledgerMints.slice(0, 4)).toEqual([
    { mint: mints[0], decimals: 0, name: 'TOKEN' },
    { mint: usdc, decimals: 1, name: 'USDC' },
    { mint: mints[2], decimals: 2, name: 'TOKENB' },
    { mint: mints[3], decimals: 3, name: 'TOKENC' },
  ])
  const names = ledgerMints.map(({ name }) => name)
  expect(names.slice(-3)).toEqual(['TOKENZ', 'TOKENAA', 'TOKENBB'])
  expect(new Set(names).size).toBe(names.length)
})

test('a mint is found by its name in any case or by its address, and an unknown one is refused with all names', async () => {
  expect(await findLedgerMint(database, 'usdc')).toMatchObject({ mint: usdc })
  expect(await findLedgerMint(database, mints[2] ?? '')).toMatchObject({ name: 'TOKENB' })
  const unknown = findLedgerMint(database, usdc.toLowerCase())
  await expect(unknown).rejects.toThrow(UnknownMint)
  await expect(unknown).rejects.toThrow(`must be TOKEN (${mints[0]}), USDC (${usdc}), TOKENB`)
})
