import { z } from 'zod'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { trialBalance } from '../../reports/trialBalance.ts'
import { readTokenFigures, type TokenFigures } from '../local/tokenFigures.ts'
import { payOrderOf, send } from './buy.ts'
import { type DemoDeps, expectThat, type DemoSpending, tokens } from './demoDeps.ts'
import type { DemoTab } from './tab.ts'

export interface DemoFigures extends TokenFigures {
  readonly burnedInStatsBaseUnits: bigint
  readonly payments: number
  readonly accounts: ReadonlyMap<string, bigint>
}

const statsJson = z.object({
  data: z.object({ total: z.object({ baseUnits: z.string().transform(BigInt), payments: z.int() }) }),
})

export async function readFigures(deps: DemoDeps): Promise<DemoFigures> {
  const { local, database } = deps
  const { body } = await send({ order: await payOrderOf(deps, { target: '/api/token/burn-stats', body: undefined }) })
  const { total } = statsJson.parse(body).data
  // Leave out the sample dollar, because its accounts have the same names as those of the token.
  const balances = (await trialBalance(database)).filter(({ mint }) => mint === local.tokenMint)
  const accounts = new Map(balances.map(({ account, baseUnits }) => [account, baseUnits]))
  const chain = await readTokenFigures(local)
  return { burnedInStatsBaseUnits: total.baseUnits, payments: total.payments, accounts, ...chain }
}

// Within this time the burner of local mode burns a final debt, and the burn becomes final.
const burnsTriesMax = 60
const burnsPauseMs = 1_000

/**
 * Waits until the service owes no burn of earlier purchases, because a burn during the demo would change the supply and
 * the wallet by an amount that the demo has not spent.
 */
export async function readSettledFigures(
  { say }: Pick<DemoDeps, 'say'>,
  read: () => Promise<DemoFigures>,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Promise<DemoFigures> {
  for (let tries = 1; ; tries++) {
    const figures = await read()
    if (owed(figures, burnOwed) === 0n || tries === burnsTriesMax) return figures
    if (tries === 1) say('   The service first burns what it owes from earlier purchases …')
    await clock.sleep(burnsPauseMs)
  }
}

export interface Comparison {
  readonly before: DemoFigures
  readonly after: DemoFigures
  /** All payments between `before` and `after` except the deposit of the tab. */
  readonly spent: readonly DemoSpending[]
  readonly tab: DemoTab
}

export function compareFigures({ say }: DemoDeps, { before, after, spent, tab }: Comparison): void {
  const burnedBaseUnits = spent.reduce((sum, { burnBaseUnits }) => sum + burnBaseUnits, 0n)
  const paidBaseUnits = spent.reduce((sum, { transferBaseUnits }) => sum + transferBaseUnits, 0n)
  const receivedBaseUnits = paidBaseUnits + tab.depositBaseUnits
  say(
    `8. Of ${spent.length} payments, ${tokens(burnedBaseUnits)} tokens were burned and ${tokens(paidBaseUnits)} transferred.`,
  )
  say(
    `   Burn statistics: ${tokens(before.burnedInStatsBaseUnits)} tokens in ${before.payments} payments before, ${tokens(after.burnedInStatsBaseUnits)} in ${after.payments} after`,
  )
  expectThat(after.payments - before.payments === spent.length, 'the burn statistics count every payment')
  expectThat(
    after.burnedInStatsBaseUnits - before.burnedInStatsBaseUnits === burnedBaseUnits,
    'the burn statistics grew by exactly what was burned',
  )

  compareTab(say, { before, after, tab })
  const heldBaseUnits = after.accounts.get(wallets) ?? 0n
  // Add up all burn accounts, because the ledger has one per endpoint.
  const burnAccounts = [...after.accounts].filter(([account]) => account.startsWith('Expenses:Burned:'))
  const expensedBaseUnits = burnAccounts.reduce((total, [, amount]) => total + amount, 0n)
  const balanceBaseUnits = [...after.accounts.values()].reduce((total, amount) => total + amount, 0n)
  const burnedOnChainBaseUnits = before.supplyBaseUnits - after.supplyBaseUnits
  say(
    `9. On chain: the payment wallet and the wallet for tabs hold ${tokens(after.heldBaseUnits)}; the supply of the mint fell by ${tokens(burnedOnChainBaseUnits)} to ${tokens(after.supplyBaseUnits)}`,
  )
  say(
    `   In the ledger: Assets:PaymentWallet ${tokens(heldBaseUnits)}; Expenses:Burned ${tokens(expensedBaseUnits)}; trial balance ${balanceBaseUnits}`,
  )
  // An interrupted demo may have paid without a request, which is recorded only when it is too late to present the
  // payment.
  const strayBaseUnits = before.heldBaseUnits - (before.accounts.get(wallets) ?? 0n)
  if (strayBaseUnits !== 0n)
    say(`   Not in the ledger yet: ${tokens(strayBaseUnits)} tokens that arrived before this demo without a request`)
  expectThat(
    heldBaseUnits === after.heldBaseUnits || heldBaseUnits + strayBaseUnits === after.heldBaseUnits,
    'ledger and chain agree on both wallets to the base unit',
  )
  expectThat(
    after.heldBaseUnits - before.heldBaseUnits === receivedBaseUnits,
    'both wallets got exactly what was transferred and deposited',
  )
  expectThat(burnedOnChainBaseUnits === burnedBaseUnits, 'the supply of the mint fell by exactly what was burned')
  expectThat(expensedBaseUnits === after.burnedInStatsBaseUnits, 'ledger and burn statistics agree')
  expectThat(balanceBaseUnits === 0n, 'the trial balance is zero')
  say('   They agree to the base unit.')
}

/**
 * Compares the tab with the debts that it left in the ledger: the burn that it owes, and the unspent balance that is
 * owed until a payout.
 */
function compareTab(say: DemoDeps['say'], { before, after, tab }: Omit<Comparison, 'spent'>): void {
  const grown = (prefix: string) => owed(after, prefix) - owed(before, prefix)
  const burnOwedBaseUnits = grown(burnOwed)
  const restBaseUnits = grown('Liabilities:Prepaid:') + grown('Liabilities:RefundsDue:')
  say(
    `   Owed by the ledger for the tab: ${tokens(burnOwedBaseUnits)} to the burn, ${tokens(restBaseUnits)} to the wallet`,
  )
  expectThat(burnOwedBaseUnits === tab.burnOwedBaseUnits, 'the ledger owes exactly the burn of the debits')
  expectThat(restBaseUnits === tab.restBaseUnits, 'the ledger owes exactly the rest of the tab')
}

const wallets = 'Assets:PaymentWallet'
const burnOwed = 'Liabilities:BurnOwed'

function owed({ accounts }: DemoFigures, prefix: string): bigint {
  const balances = [...accounts].filter(([account]) => account.startsWith(prefix)).map(([, baseUnits]) => baseUnits)
  return -balances.reduce((sum, baseUnits) => sum + baseUnits, 0n)
}
