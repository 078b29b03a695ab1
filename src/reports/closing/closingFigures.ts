import { assert } from '@tollbook/core/assert'
import type { ClosingAccount, ClosingStatement, ClosingTotal } from '@tollbook/core/closingStatement'
import { divideTowardsZero } from '@tollbook/core/money'
import { accounts, shareName } from '../../accounting/account.ts'
import { type DayPrice, valueAt } from '../dayPrice.ts'

/* Arithmetic of a closing statement. Values are in 10^-12 dollars and are truncated only for display. */

export interface ClosingLine {
  readonly part: 'opening' | 'month' | 'restated'
  readonly kind: string
  readonly account: string
  readonly debitBaseUnits: bigint
  readonly creditBaseUnits: bigint
  /** Debits less credits in 10^-12 dollars, at the prices quoted for the payments. */
  readonly quotedPicoUsd: bigint
  readonly debitDayPicoUsd: bigint
  readonly creditDayPicoUsd: bigint
}

export type ClosingFigures = Pick<ClosingStatement, 'accounts' | 'totals' | 'owedBaseUnits'>

/**
 * Computes the accounts and totals of a statement. The balances of a mint must sum to zero, because the entries of each
 * event do.
 */
export function closingFigures(lines: readonly ClosingLine[], price: DayPrice | undefined): ClosingFigures {
  const byAccount = [...Map.groupBy(lines, ({ account }) => account)].toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  )
  const lined = byAccount.map(([account, own]) => accountLine(own, { account, price }))
  const shown = lined.filter((line) => Object.values(line).some((cell) => cell !== line.account && cell !== '0'))
  const owed = shown.filter(({ account }) => isLiability(account))
  const month = lines.filter(({ part }) => part === 'month')
  const closingBaseUnits = shown.reduce((sum, line) => sum + BigInt(line.closingBaseUnits), 0n)
  assert(closingBaseUnits === 0n, 'the balances of a mint sum to zero')
  return {
    accounts: shown,
    totals: totalsOf(month),
    owedBaseUnits: (-owed.reduce((sum, line) => sum + BigInt(line.closingBaseUnits), 0n)).toString(),
  }
}

interface AccountQuestion {
  readonly account: string
  readonly price: DayPrice | undefined
}

function accountLine(lines: readonly ClosingLine[], { account, price }: AccountQuestion): ClosingAccount {
  const month = lines.filter(({ part }) => part === 'month')
  const netOf = (part: ClosingLine['part']) =>
    lines.filter((line) => line.part === part).reduce((sum, line) => sum + netBaseUnitsOf(line), 0n)
  const closingBaseUnits = netOf('opening') + netOf('month') + netOf('restated')
  return {
    account,
    openingBaseUnits: netOf('opening').toString(),
    debitBaseUnits: sumOf(month, 'debitBaseUnits').toString(),
    creditBaseUnits: sumOf(month, 'creditBaseUnits').toString(),
    restatedBaseUnits: netOf('restated').toString(),
    closingBaseUnits: closingBaseUnits.toString(),
    debitAtDayPriceMicroUsd: microUsd(sumOf(month, 'debitDayPicoUsd')),
    creditAtDayPriceMicroUsd: microUsd(sumOf(month, 'creditDayPicoUsd')),
    closingAtDayPriceMicroUsd: valueAt(closingBaseUnits, price).toString(),
  }
}

interface TotalRule {
  readonly kinds: 'payments' | 'payouts' | 'burns' | 'refunds'
  readonly isOf: (account: string) => boolean
  /** 1n for accounts that grow by debits, -1n for accounts that grow by credits. */
  readonly sign: 1n | -1n
}

const isLiability = (account: string) => account.startsWith('Liabilities:')
const isShare = (account: string) => shareName(account) !== undefined
const isBurned = (account: string) => account === 'Expenses:Burned'
const notRefunds: ReadonlySet<string> = new Set([accounts.unearned, accounts.burnOwed, accounts.prepaid])
/** True for an account with money that must return to a wallet. */
const isRefund = (account: string) => isLiability(account) && !isShare(account) && !notRefunds.has(account)
const isOnly = (name: string) => (account: string) => account === name

const rules: Readonly<Record<ClosingTotal, TotalRule>> = {
  received: { kinds: 'payments', isOf: isOnly(accounts.paymentWallet), sign: 1n },
  burned: { kinds: 'payments', isOf: isBurned, sign: 1n },
  burnOwed: { kinds: 'payments', isOf: isOnly(accounts.burnOwed), sign: -1n },
  burnConfirmed: { kinds: 'burns', isOf: isBurned, sign: 1n },
  allocated: { kinds: 'payments', isOf: isShare, sign: -1n },
  refundsArisen: { kinds: 'payments', isOf: isRefund, sign: -1n },
  refundsGranted: { kinds: 'refunds', isOf: isOnly(accounts.refundsGranted), sign: 1n },
  paidOut: { kinds: 'payouts', isOf: isShare, sign: 1n },
  prepaid: { kinds: 'payments', isOf: isOnly(accounts.prepaid), sign: -1n },
  refunded: { kinds: 'payouts', isOf: isRefund, sign: 1n },
  lost: { kinds: 'payments', isOf: isOnly(accounts.reversedPayments), sign: 1n },
}

/** Group of totals for each kind of stream. An unlisted kind counts as payments. */
const kindOf: Readonly<Record<string, TotalRule['kinds']>> = { payout: 'payouts', burn: 'burns', refund: 'refunds' }

function totalsOf(month: readonly ClosingLine[]): ClosingStatement['totals'] {
  return {
    received: totalOf(month, 'received'),
    burned: totalOf(month, 'burned'),
    burnOwed: totalOf(month, 'burnOwed'),
    burnConfirmed: totalOf(month, 'burnConfirmed'),
    allocated: totalOf(month, 'allocated'),
    refundsArisen: totalOf(month, 'refundsArisen'),
    refundsGranted: totalOf(month, 'refundsGranted'),
    paidOut: totalOf(month, 'paidOut'),
    refunded: totalOf(month, 'refunded'),
    lost: totalOf(month, 'lost'),
    // Omit the total without tabs, because readers of earlier releases do not accept this field.
    ...(month.some(({ account }) => account === accounts.prepaid) ? { prepaid: totalOf(month, 'prepaid') } : {}),
  }
}

function totalOf(month: readonly ClosingLine[], name: ClosingTotal): ClosingStatement['totals']['received'] {
  const { kinds, isOf, sign } = rules[name]
  const lines = month.filter((line) => (kindOf[line.kind] ?? 'payments') === kinds && isOf(line.account))
  const dayPicoUsd = sumOf(lines, 'debitDayPicoUsd') - sumOf(lines, 'creditDayPicoUsd')
  return {
    baseUnits: (sign * lines.reduce((sum, line) => sum + netBaseUnitsOf(line), 0n)).toString(),
    atQuotedPriceMicroUsd: kinds === 'payments' ? microUsd(sign * sumOf(lines, 'quotedPicoUsd')) : null,
    atDayPriceMicroUsd: microUsd(sign * dayPicoUsd),
  }
}

function netBaseUnitsOf({ debitBaseUnits, creditBaseUnits }: ClosingLine): bigint {
  return debitBaseUnits - creditBaseUnits
}

type Amount = 'debitBaseUnits' | 'creditBaseUnits' | 'quotedPicoUsd' | 'debitDayPicoUsd' | 'creditDayPicoUsd'

function sumOf(lines: readonly ClosingLine[], column: Amount): bigint {
  return lines.reduce((sum, line) => sum + line[column], 0n)
}

/** Converts 10^-12 dollars to millionths of a dollar, rounded toward zero, for display only. */
function microUsd(picoUsd: bigint): string {
  return divideTowardsZero(picoUsd, 1_000_000n).toString()
}
