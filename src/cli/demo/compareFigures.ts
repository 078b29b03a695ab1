import { z } from 'zod'
import { askFree } from '@tollbook/client/freeRoute'
import { readTokenFigures, type TokenFigures } from '@tollbook/client/tokenFigures'
import { trialBalance } from '../../reports/trialBalance.ts'
import { type DemoDeps, expectThat, rpcUrlOf, type Spent, tokens } from './demoDeps.ts'

/** DemoFigures of ledger, statistics and chain at one moment. */
export interface DemoFigures {
  readonly burnedInStatsBaseUnits: bigint
  readonly payments: number
  readonly accounts: ReadonlyMap<string, bigint>
  readonly chain: TokenFigures
}

const statsJson = z.object({
  data: z.object({ total: z.object({ baseUnits: z.string().transform(BigInt), payments: z.int() }) }),
})

/** Figures of the ledger, of the public statistics and of the chain, read one after the other. */
export async function readFigures(deps: DemoDeps, paymentTokenAccount: string): Promise<DemoFigures> {
  const { body } = await askFree({ baseUrl: deps.local.baseUrl, path: '/api/token/burn-stats' })
  const { total } = statsJson.parse(body).data
  const accounts = new Map((await trialBalance(deps.database)).map(({ account, baseUnits }) => [account, baseUnits]))
  const chain = await readTokenFigures({
    rpcUrl: rpcUrlOf(deps),
    mint: deps.local.tokenMint,
    tokenAccount: paymentTokenAccount,
  })
  return { burnedInStatsBaseUnits: total.baseUnits, payments: total.payments, accounts, chain }
}

export interface Comparison {
  readonly before: DemoFigures
  readonly after: DemoFigures
  /** All payments in between. */
  readonly spent: readonly Spent[]
}

/** Compares ledger, statistics and chain to the base unit. */
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
  // One account for each endpoint.
  const burnAccounts = [...after.accounts].filter(([account]) => account.startsWith('Expenses:Burned:'))
  const expensed = burnAccounts.reduce((total, [, amount]) => total + amount, 0n)
  const sum = [...after.accounts.values()].reduce((total, amount) => total + amount, 0n)
  const burnedOnChain = before.chain.supplyBaseUnits - after.chain.supplyBaseUnits
  say(
    `8. On chain: the payment wallet holds ${tokens(after.chain.heldBaseUnits)}; the supply of the mint fell by ${tokens(burnedOnChain)} to ${tokens(after.chain.supplyBaseUnits)}`,
  )
  say(
    `   In the ledger: Assets:PaymentWallet ${tokens(held)}; Expenses:Burned ${tokens(expensed)}; trial balance ${sum}`,
  )
  expectThat(held === after.chain.heldBaseUnits, 'ledger and chain agree on the payment wallet to the base unit')
  expectThat(
    after.chain.heldBaseUnits - before.chain.heldBaseUnits === received,
    'the payment wallet got exactly what was transferred',
  )
  expectThat(burnedOnChain === burned, 'the supply of the mint fell by exactly what was burned')
  expectThat(expensed === after.burnedInStatsBaseUnits, 'ledger and burn statistics agree')
  expectThat(sum === 0n, 'the trial balance is zero')
  say('   They agree to the base unit.')
}
