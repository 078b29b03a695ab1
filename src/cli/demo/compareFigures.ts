import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { trialBalance } from '../../reports/trialBalance.ts'
import { readTokenFigures, type TokenFigures } from '../local/tokenFigures.ts'
import { payOrderOf, send } from './buy.ts'
import { type DemoDeps, expectThat, type DemoSpending, tokens } from './demoDeps.ts'

/** Figures of ledger, statistics and chain at one time. */
export interface DemoFigures extends TokenFigures {
  readonly burnedInStatsBaseUnits: bigint
  readonly payments: number
  readonly accounts: ReadonlyMap<string, bigint>
}

const statsJson = z.object({
  data: z.object({ total: z.object({ baseUnits: z.string().transform(BigInt), payments: z.int() }) }),
})

/** Reads the figures of the ledger, the public statistics and the chain, in turn. */
export async function readFigures(deps: DemoDeps): Promise<DemoFigures> {
  const { local, database } = deps
  const { body } = await send({ order: await payOrderOf(deps, { target: '/api/token/burn-stats', body: undefined }) })
  const { total } = statsJson.parse(body).data
  const accounts = new Map((await trialBalance(database)).map(({ account, baseUnits }) => [account, baseUnits]))
  const chain = await readTokenFigures(assertPresent(local.rpcUrl, 'local mode has a chain'), local)
  return { burnedInStatsBaseUnits: total.baseUnits, payments: total.payments, accounts, ...chain }
}

export interface Comparison {
  readonly before: DemoFigures
  readonly after: DemoFigures
  /** All payments between `before` and `after`. */
  readonly spent: readonly DemoSpending[]
}

/** Checks that ledger, statistics and chain agree to the base unit. */
export function compareFigures({ say }: DemoDeps, { before, after, spent }: Comparison): void {
  const burned = spent.reduce((sum, { burnBaseUnits }) => sum + burnBaseUnits, 0n)
  const received = spent.reduce((sum, { transferBaseUnits }) => sum + transferBaseUnits, 0n)
  say(`7. Of ${spent.length} payments, ${tokens(burned)} tokens were burned and ${tokens(received)} transferred.`)
  say(
    `   Burn statistics: ${tokens(before.burnedInStatsBaseUnits)} tokens in ${before.payments} payments before, ${tokens(after.burnedInStatsBaseUnits)} in ${after.payments} after`,
  )
  expectThat(after.payments - before.payments === spent.length, 'the burn statistics count every payment')
  expectThat(
    after.burnedInStatsBaseUnits - before.burnedInStatsBaseUnits === burned,
    'the burn statistics grew by exactly what was burned',
  )

  const held = after.accounts.get('Assets:PaymentWallet') ?? 0n
  // The ledger has one burn account per endpoint.
  const burnAccounts = [...after.accounts].filter(([account]) => account.startsWith('Expenses:Burned:'))
  const expensed = burnAccounts.reduce((total, [, amount]) => total + amount, 0n)
  const sum = [...after.accounts.values()].reduce((total, amount) => total + amount, 0n)
  const burnedOnChain = before.supplyBaseUnits - after.supplyBaseUnits
  say(
    `8. On chain: the payment wallet and the wallet for tabs hold ${tokens(after.heldBaseUnits)}; the supply of the mint fell by ${tokens(burnedOnChain)} to ${tokens(after.supplyBaseUnits)}`,
  )
  say(
    `   In the ledger: Assets:PaymentWallet ${tokens(held)}; Expenses:Burned ${tokens(expensed)}; trial balance ${sum}`,
  )
  expectThat(held === after.heldBaseUnits, 'ledger and chain agree on both wallets to the base unit')
  expectThat(after.heldBaseUnits - before.heldBaseUnits === received, 'both wallets got exactly what was transferred')
  expectThat(burnedOnChain === burned, 'the supply of the mint fell by exactly what was burned')
  expectThat(expensed === after.burnedInStatsBaseUnits, 'ledger and burn statistics agree')
  expectThat(sum === 0n, 'the trial balance is zero')
  say('   They agree to the base unit.')
}
