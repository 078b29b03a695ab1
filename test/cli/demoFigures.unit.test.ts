import { expect, test } from 'vitest'
import { compareFigures, readSettledFigures } from '../../src/cli/demo/compareFigures.ts'
import type { DemoDeps } from '../../src/cli/demo/demoDeps.ts'

const accounts = (held: bigint, burned: bigint, owed: readonly [burn: bigint, prepaid: bigint, refunds: bigint]) => {
  const [burn, prepaid, refunds] = owed
  return new Map([
    ['Assets:PaymentWallet', held],
    ['Expenses:Burned:/a', burned - 1n],
    ['Expenses:Burned:/b', 1n],
    ['Liabilities:BurnOwed', -burn],
    ['Liabilities:Prepaid:token', -prepaid],
    ['Liabilities:RefundsDue:wallet', -refunds],
    ['Income', burn + prepaid + refunds - held - burned],
  ])
}
const before = {
  supplyBaseUnits: 1_000n,
  heldBaseUnits: 70n,
  burnedInStatsBaseUnits: 30n,
  payments: 1,
  accounts: accounts(70n, 30n, [1n, 2n, 3n]),
}
// Two payments burn 6 and transfer 14; a deposit of 10 is spent for 7, of which 2 are owed to the burn.
const after = {
  supplyBaseUnits: 994n,
  heldBaseUnits: 94n,
  burnedInStatsBaseUnits: 36n,
  payments: 3,
  accounts: accounts(94n, 36n, [3n, 0n, 8n]),
}
const spent = [
  { burnBaseUnits: 2n, transferBaseUnits: 8n },
  { burnBaseUnits: 4n, transferBaseUnits: 6n },
]
const tab = { depositBaseUnits: 10n, chargedBaseUnits: 7n, burnOwedBaseUnits: 2n, restBaseUnits: 3n }
const sound = { before, after, spent, tab }

function judge(comparison: typeof sound): string {
  const lines: string[] = []
  // The comparison prints, and uses no other part of the demo.
  const deps = { say: (line: string) => void lines.push(line) } as unknown as DemoDeps
  try {
    compareFigures(deps, comparison)
    return lines.at(-1) ?? ''
  } catch (error) {
    return String(error)
  }
}

test('the demo is satisfied if statistics, ledger and chain agree to the base unit', () => {
  expect(judge(sound)).toBe('   They agree to the base unit.')
})

test.each([
  ['the burn statistics count every payment', { after: { ...after, payments: 2 } }],
  ['the burn statistics grew by exactly', { after: { ...after, burnedInStatsBaseUnits: 37n } }],
  ['the ledger owes exactly the burn of the debits', { tab: { ...tab, burnOwedBaseUnits: 3n } }],
  ['the ledger owes exactly the rest of the tab', { tab: { ...tab, restBaseUnits: 2n } }],
  ['ledger and chain agree on both wallets', { after: { ...after, heldBaseUnits: 95n } }],
  ['both wallets got exactly', { before: { ...before, heldBaseUnits: 71n } }],
  ['the supply of the mint fell by exactly', { after: { ...after, supplyBaseUnits: 995n } }],
  ['ledger and burn statistics agree', { after: { ...after, accounts: accounts(94n, 35n, [3n, 0n, 8n]) } }],
  ['the trial balance is zero', { after: { ...after, accounts: new Map([...after.accounts, ['Income', 0n]]) } }],
])('the demo fails unless %s', (expectation, changed) => {
  expect(judge({ ...sound, ...changed })).toContain(`the demo expected that ${expectation}`)
})

test('tokens that an interrupted demo left without a request do not fail the next one', () => {
  const stray = { ...sound, before: { ...before, heldBaseUnits: 75n }, after: { ...after, heldBaseUnits: 99n } }
  expect(judge(stray)).toBe('   They agree to the base unit.')
  expect(judge({ ...stray, after: { ...after, heldBaseUnits: 98n } })).toContain('ledger and chain agree')
})

test('the demo begins when the service owes no burn of earlier purchases', async () => {
  const said: string[] = []
  const settled = { ...before, accounts: accounts(70n, 30n, [0n, 2n, 3n]) }
  const readings = [before, before, settled, after]
  const read = async () => readings.shift() ?? after
  const figures = await readSettledFigures({ say: (line) => said.push(line) }, read, { sleep: async () => undefined })
  expect([figures, said.length, readings.length]).toEqual([settled, 1, 1])
})
