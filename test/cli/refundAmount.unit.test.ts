import { expect, test } from 'vitest'
import { readAmount } from '../../src/cli/refund.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import type { OpenDiagnosis } from '../../src/diagnosis/openDiagnosis.ts'

type Explained = Awaited<ReturnType<OpenDiagnosis['explain']>>

/** A ledger whose token has 9 decimals. Its explanation of a payment is scripted, and has the decimals of what paid. */
function ledgerWith(explained: { readonly decimals: number } | 'unknown') {
  return { decimals: 9, explain: () => Promise.resolve(explained as Explained) }
}

test('an amount has the decimals of the mint that paid, not those of the token of the service', async () => {
  expect(await readAmount(ledgerWith({ decimals: 6 }), 'payment', '1.5')).toBe(1_500_000n)
  expect(await readAmount(ledgerWith({ decimals: 0 }), 'payment', '3')).toBe(3n)
  expect(await readAmount(ledgerWith('unknown'), 'payment', '1.5')).toBe(1_500_000_000n)
})

test('an amount with more digits than its mint has is refused with the number of digits', async () => {
  const refused = readAmount(ledgerWith({ decimals: 2 }), 'payment', '1.234')
  await expect(refused).rejects.toThrow(UsageProblem)
  await expect(refused).rejects.toThrow('at most 2 digits after the point (got 1.234)')
})
