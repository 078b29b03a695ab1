import { type Clock, isoTime } from '@tollbook/core/clock'
import { encodeBase64 } from '@tollbook/core/base64'
import { displayNumber } from '@tollbook/core/money'
import { type Database, readRows } from '../store/database.ts'
import { type BurnDebt, readBurnDebt } from './burnDebt.ts'
import type { LedgerToken } from './ledgerToken.ts'
import { type PromisedBurns, readPromisedBurns } from './promisedBurns.ts'
import { usdDecimals } from './reportCsv.ts'
import { newestCheckpoint } from '../store/sealStore.ts'

export type Burned = Readonly<{ tokens: number; baseUnits: string; payments: number }>

export type BurnStats = Awaited<ReturnType<typeof burnStats>>

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs
const daysShown = 90

/**
 * Reads account balances and hourly sums that the append writes together with the events. The cost is independent of
 * the number of payments, except for sales in dollars that no round has burned yet.
 */
export async function burnStats(deps: { database: Database; clock: Clock }, { mint, decimals }: LedgerToken) {
  const nowMs = deps.clock.nowMs()
  // Read the rounds before the sums: a round that is confirmed in between then cannot make `insidePayments` negative.
  const debt = await readBurnDebt(deps.database, mint)
  const rows = await readBurned(deps.database, mint, nowMs)
  const promises = await readPromisedBurns(deps.database, mint)
  const sealed = await newestCheckpoint(deps.database)
  const show = (chosen: readonly Row[]) => shown(chosen, decimals)
  const ofSpan = (span: Row['span']) => rows.filter((row) => row.span === span)
  const accounts = ofSpan('account')
  const days = ofSpan('day')
  const since = (ms: number) => days.filter((row) => row.starts_at.getTime() > nowMs - ms)
  return {
    mint,
    decimals,
    total: show(accounts),
    last24Hours: show(ofSpan('hour')),
    last7Days: show(since(7 * dayMs)),
    last30Days: show(since(30 * dayMs)),
    byEndpoint: accounts.map((row) => ({ endpoint: row.endpoint, ...shown([row], decimals) })),
    byDay: days.map((row) => ({ day: isoTime(row.starts_at.getTime()).slice(0, 10), ...shown([row], decimals) })),
    // Amount burned on chain: in confirmed rounds, or inside verified payments. It equals the total.
    confirmed: confirmedOf(amountOf(accounts, decimals), debt, decimals),
    // Amount owed for burning and not burned yet. The other figures exclude it.
    owed: {
      ...shownAmount(debt.owedBaseUnits, decimals),
      oldestAt: debt.oldestOwedAtMs === undefined ? null : isoTime(debt.oldestOwedAtMs),
    },
    ...treasuryOf(promises, decimals),
    // Position and root of the newest checkpoint. The other figures are read before it.
    ledger: { position: sealed?.size ?? 0, root: sealed === undefined ? null : encodeBase64(sealed.root) },
    asOf: isoTime(nowMs),
  }
}

interface Row {
  readonly span: 'account' | 'day' | 'hour'
  readonly starts_at: Date
  readonly endpoint: string
  readonly burned: string
  readonly payments: number
}

/** Reads along unique indexes: one row per endpoint, and at most 90 days of hourly sums of one account. */
async function readBurned(database: Database, mint: string, nowMs: number): Promise<readonly Row[]> {
  // Start at midnight, so that the first day is complete.
  const firstDay = new Date(Math.ceil((nowMs - daysShown * dayMs) / dayMs) * dayMs)
  const firstHour = new Date(nowMs - dayMs)
  return readRows(database, 'burn statistics')<Row>`
    with account as (
      -- Each burn is a debit; a reversed burn is a credit as well.
      select substr(name, 17) as endpoint, balance, 2 * debit_entries - entries as payments
      from ledger.accounts
      where mint = ${mint} and name like 'Expenses:Burned:%'
    ),
    hour as materialized (
      -- Sums of debits less credits, and a burn credits the counterpart of the accounts of all endpoints.
      select t.hour, -t.amount as burned, -t.entries as payments
      from ledger.accounts a
      join ledger.tallies t on t.account = a.id
      where a.mint = ${mint} and a.name = 'Income:BurnedByCallers' and t.hour >= ${firstDay}
    )
    select 'account' as span, timestamptz 'epoch' as starts_at, endpoint, balance::text as burned, payments from account
    union all
    select 'day', d.day::timestamp at time zone 'UTC', '', d.burned::text, d.payments::bigint
    from (
      select (hour at time zone 'UTC')::date as day, sum(burned) as burned, sum(payments) as payments from hour group by 1
    ) d
    union all
    select 'hour', hour, '', burned::text, payments::bigint from hour where hour > ${firstHour}
    order by span, starts_at desc, endpoint`
}

function shown(rows: readonly Row[], decimals: number): Burned {
  return { ...amountOf(rows, decimals), payments: rows.reduce((sum, row) => sum + row.payments, 0) }
}

function amountOf(rows: readonly Row[], decimals: number): Pick<Burned, 'tokens' | 'baseUnits'> {
  return shownAmount(
    rows.reduce((sum, row) => sum + BigInt(row.burned), 0n),
    decimals,
  )
}

function shownAmount(baseUnits: bigint, decimals: number): Pick<Burned, 'tokens' | 'baseUnits'> {
  return { tokens: displayNumber(baseUnits, decimals), baseUnits: baseUnits.toString() }
}

/**
 * Returns an empty object if no sale in dollars promised a burn and the treasury delivered nothing. `sales` has one
 * entry for each dollar token of the newest price list.
 */
function treasuryOf(promises: PromisedBurns | undefined, decimals: number) {
  if (promises === undefined) return {}
  const { promisedBaseUnits, deliveredBaseUnits, burnedBaseUnits, sales } = promises
  const dueBaseUnits = promisedBaseUnits - deliveredBaseUnits
  const show = (baseUnits: bigint) => shownAmount(baseUnits, decimals)
  return {
    treasury: {
      promised: show(promisedBaseUnits),
      delivered: show(deliveredBaseUnits),
      burned: show(burnedBaseUnits),
      open: show(promisedBaseUnits - burnedBaseUnits),
      toDeliver: show(dueBaseUnits > 0n ? dueBaseUnits : 0n),
      deliveredAhead: show(dueBaseUnits < 0n ? -dueBaseUnits : 0n),
      sales: sales.map(({ mint, symbol, decimals: own, baseUnits, microUsd }) => ({
        mint,
        ...(symbol === undefined ? {} : { symbol }),
        amount: displayNumber(baseUnits, own),
        baseUnits: baseUnits.toString(),
        usd: displayNumber(microUsd, usdDecimals),
      })),
    },
  }
}

function confirmedOf(total: Pick<Burned, 'tokens' | 'baseUnits'>, debt: BurnDebt, decimals: number) {
  const { confirmedBaseUnits, lastRound } = debt
  return {
    ...total,
    insidePayments: shownAmount(BigInt(total.baseUnits) - confirmedBaseUnits, decimals),
    inRounds: shownAmount(confirmedBaseUnits, decimals),
    lastRound:
      lastRound === undefined
        ? null
        : {
            round: lastRound.round,
            signature: lastRound.signature,
            slot: lastRound.slot,
            ...shownAmount(lastRound.burnedBaseUnits, decimals),
            at: isoTime(lastRound.burnedAtMs),
          },
  }
}
