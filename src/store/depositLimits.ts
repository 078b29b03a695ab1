import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { divideRoundingUp } from '@tollbook/core/money'
import { type Refusal, refuse } from '@tollbook/core/refusal'
import type { DepositLimits } from '@tollbook/core/tab'
import type { QueryRunner } from '@tollbook/ledger/database'
import type { Item } from '@tollbook/ledger/item'
import type { LedgerKernel } from '@tollbook/ledger/port'
import { prepaidOn } from '../accounting/account.ts'
import { readOrFault } from './database.ts'

export interface DepositStoreDeps {
  readonly pool: QueryRunner
  readonly kernel: LedgerKernel
}

/** `limits` bound the balances of the tab and of all tabs after the deposit. */
export interface LimitedDeposit {
  readonly item: Item
  readonly tab: string
  readonly mint: string
  readonly baseUnits: bigint
  readonly limits: DepositLimits
}

/**
 * Space of ledger.keys for the numbers of deposits. Two deposits that were checked against the same balances take the
 * same number, so the append refuses the second. No append waits for a day, so a number may be reused after a day.
 */
const numberSpace = 15
const numberSeconds = 24 * 60 * 60
const numberBytes = 8

// Maximum of tries. A try fails only if another process appends a deposit at the same time.
const triesMax = 64

export type Deposits = (deposit: LimitedDeposit) => ReturnType<typeof appendDeposit>

/**
 * Creates the function that appends the deposits of this process one after another, so that each check reads the
 * balances after the previous deposit. Concurrent deposits would read the balances again after each append: 2,080 times
 * for 64 deposits.
 */
export function createDeposits(deps: DepositStoreDeps): Deposits {
  let last: Promise<unknown> = Promise.resolve()
  return (deposit) => {
    const appended = last.then(() => appendDeposit(deps, deposit))
    last = appended.catch(() => undefined)
    return appended
  }
}

/**
 * Appends the deposit unless it would exceed a limit. Holds that may return to a tab later do not count towards the
 * limits.
 */
async function appendDeposit(deps: DepositStoreDeps, deposit: LimitedDeposit) {
  const { item, baseUnits, limits } = deposit
  for (let tries = 1; tries <= triesMax; tries++) {
    const { number, tabBaseUnits, allBaseUnits } = await readBalances(deps, deposit)
    if (tabBaseUnits + baseUnits > limits.tabBaseUnits) return refuseDeposit('the tab')
    if (allBaseUnits + baseUnits > limits.allBaseUnits) return refuseDeposit('all tabs together')
    const key = Buffer.alloc(numberBytes)
    key.writeBigUInt64BE(number + 1n)
    const numbered = { space: numberSpace, key, lifetimeSeconds: numberSeconds }
    const appended = await deps.kernel.append({ ...item, keys: [...(item.keys ?? []), numbered] })
    if (appended.outcome === 'appended' || appended.refusal.reason !== 'key_used') return appended
  }
  throw new Fault('other deposits kept being recorded first', { retryable: true })
}

function refuseDeposit(what: string): { readonly outcome: 'beyond'; readonly refusal: Refusal } {
  return { outcome: 'beyond', refusal: refuse('NO_DATA', `${what} would hold more than this service permits`) }
}

// Read the number and the balances in one statement, so that they belong together. The mint of the deposit comes first.
const selectBalances = `
  select m.mint, (select k.key from ledger.keys k where k.space = ${numberSpace} order by k.key desc limit 1) as number,
    coalesce(-sum(a.balance) filter (where a.name = $2), 0)::text as tab, coalesce(-sum(a.balance), 0)::text as every
  from unnest($1::text[]) with ordinality as m (mint, place)
  left join ledger.accounts a on a.mint = m.mint and a.name like $3
  group by m.mint, m.place
  order by m.place`

async function readBalances({ pool }: DepositStoreDeps, { mint, tab, limits: { prices } }: LimitedDeposit) {
  const others = prices.filter((price) => price.mint !== mint)
  const mints = [mint, ...others.map((price) => price.mint)]
  const { rows } = await readOrFault('the balances of tabs before a deposit', () =>
    pool.query<BalanceRow>(selectBalances, [mints, prepaidOn(tab), prepaidOn('%')]),
  )
  const [own, ...rest] = rows
  const row = assertPresent(own, 'a sum has a row')
  const number = row.number === null ? 0n : row.number.readBigUInt64BE()
  const priceBaseUnits = prices.find((price) => price.mint === mint)?.requiredBaseUnits ?? 0n
  // Count the tabs in other mints at the prices of the same deposit. Round up, so that the limit is never exceeded.
  const allBaseUnits = rest.reduce((sum, { every }, index) => {
    const otherBaseUnits = assertPresent(others[index], 'each mint has a row').requiredBaseUnits
    return sum + divideRoundingUp(BigInt(every) * priceBaseUnits, otherBaseUnits)
  }, BigInt(row.every))
  return { number, tabBaseUnits: BigInt(row.tab), allBaseUnits }
}

interface BalanceRow {
  readonly mint: string
  readonly number: Buffer | null
  readonly tab: string
  readonly every: string
}
