import { z } from 'zod'

/*
 * The closing statement of a month (docs/finance.md): opening balances, movements and closing balances of the ledger.
 * The service signs it. Anyone can check it with the public key and this file.
 */

/** Debits are positive and credits negative. */
const signedAmount = z.string().regex(/^(0|-?[1-9]\d{0,37})$/)
const amount = z.string().regex(/^(0|[1-9]\d{0,37})$/)
const day = z.iso.date()

const accountLine = z.object({
  account: z.string(),
  openingBaseUnits: signedAmount,
  debitBaseUnits: amount,
  creditBaseUnits: amount,
  /** Entries of earlier months that were recorded after the close of their month. */
  restatedBaseUnits: signedAmount,
  closingBaseUnits: signedAmount,
  /** Value in millionths of a dollar, at the price of the day of each movement. */
  debitAtDayPriceMicroUsd: amount,
  creditAtDayPriceMicroUsd: amount,
  /** Value in millionths of a dollar, at the price of the last day. */
  closingAtDayPriceMicroUsd: signedAmount,
})

const total = z.object({
  baseUnits: signedAmount,
  /**
   * Value in millionths of a dollar, at the quoted price of each payment. Null if a movement does not belong to one
   * payment.
   */
  atQuotedPriceMicroUsd: signedAmount.nullable(),
  atDayPriceMicroUsd: signedAmount,
})

const lateEntry = z.object({
  position: z.int().min(1),
  day,
  account: z.string(),
  debitBaseUnits: amount,
  creditBaseUnits: amount,
})

const totals = z.strictObject({
  received: total,
  burned: total,
  burnOwed: total,
  burnConfirmed: total,
  allocated: total,
  refundsArisen: total,
  refundsGranted: total,
  paidOut: total,
  refunded: total,
  lost: total,
  /** Deposits on tabs, less the amounts that tabs paid and returned. Absent: no tab moved. */
  prepaid: total.exactOptional(),
})
export type ClosingTotal = keyof z.infer<typeof totals>

// Maximum accounts in a statement. It has one line for each kind of account and each share.
const accountsMax = 2_000
export const lateEntriesMax = 1_000

export const closingStatement = z.object({
  format: z.literal('tollbook-closing'),
  version: z.literal(1),
  origin: z.string(),
  mint: z.string(),
  decimals: z.int().min(0).max(18),
  month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/),
  /** `preliminary`: later events may change the figures. A statement is final 10 minutes after `closesAt`. */
  status: z.enum(['final', 'preliminary']),
  /** Events recorded later belong to a later statement. */
  closesAt: z.iso.datetime(),
  /** The figures include the events up to this position. */
  position: z.int().min(0),
  /** The checkpoint of this size covers the figures. `root` is the root of the tree in base64. */
  treeSize: z.int().min(1),
  root: z.string(),
  /** Mean of the quoted prices of a day, weighted by amount. Null before the first payment. */
  closingPrice: z.object({ day, priceMicroUsd: amount, forBaseUnits: amount }).nullable(),
  accounts: z.array(accountLine).max(accountsMax),
  totals,
  owedBaseUnits: signedAmount,
  /** At most 1,000 of the entries that `restatedBaseUnits` sums up. */
  restated: z.array(lateEntry).max(lateEntriesMax),
  restatedCount: z.int().min(0),
  /** Entries of this or an earlier month that were recorded after the close. The figures above exclude them. */
  recordedLater: z.array(lateEntry).max(lateEntriesMax),
  recordedLaterCount: z.int().min(0),
  issuedAt: z.iso.datetime(),
})

export type ClosingStatement = z.infer<typeof closingStatement>
export type ClosingAccount = ClosingStatement['accounts'][number]
export type LateEntry = z.infer<typeof lateEntry>

export const closingType = 'tollbook-closing'

/** The checkpoint is a signed note. The JWS is compact EdDSA over the canonical JSON of the statement. */
export const signedClosing = z.object({ statement: closingStatement, checkpoint: z.string(), jws: z.string() })

export type SignedClosing = z.infer<typeof signedClosing>

/** Returns the text of the first problem that these checks of double entry find. Undefined if they find none. */
export function findClosingProblem(statement: ClosingStatement): string | undefined {
  const { accounts } = statement
  const names = new Set(accounts.map(({ account }) => account))
  if (names.size !== accounts.length) return 'an account has two lines'
  const wrong = accounts.find((line) => closingOf(line) !== BigInt(line.closingBaseUnits))
  if (wrong !== undefined) return `${wrong.account} does not close on its opening balance and its movements`
  for (const column of ['openingBaseUnits', 'restatedBaseUnits', 'closingBaseUnits'] as const)
    if (sumOf(accounts, column) !== 0n) return `the column ${column} does not sum to zero`
  if (sumOf(accounts, 'debitBaseUnits') !== sumOf(accounts, 'creditBaseUnits')) return 'debits and credits differ'
  const owedBaseUnits = -sumOf(
    accounts.filter(({ account }) => account.startsWith('Liabilities:')),
    'closingBaseUnits',
  )
  if (owedBaseUnits !== BigInt(statement.owedBaseUnits)) return 'owedBaseUnits is not the sum of the liabilities'
  return findCutProblem(statement) ?? findRestatementProblem(statement)
}

function findCutProblem({ position, treeSize }: ClosingStatement): string | undefined {
  return position > treeSize ? `position ${position} is behind the checkpoint of ${treeSize} events` : undefined
}

/** The balances are not compared if there are too many entries to list. */
function findRestatementProblem({ accounts, restated, restatedCount, position }: ClosingStatement): string | undefined {
  if (restated.length !== Math.min(restatedCount, lateEntriesMax)) return 'restatedCount is not the number of entries'
  if (restated.some((entry) => entry.position > position)) return 'a restated entry is behind the position'
  if (restatedCount > lateEntriesMax) return undefined
  const differs = accounts.find(({ account, restatedBaseUnits }) => {
    const own = restated.filter((entry) => entry.account === account)
    return sumOf(own, 'debitBaseUnits') - sumOf(own, 'creditBaseUnits') !== BigInt(restatedBaseUnits)
  })
  return differs === undefined ? undefined : `${differs.account} is not restated by the listed entries`
}

function closingOf({ openingBaseUnits, debitBaseUnits, creditBaseUnits, restatedBaseUnits }: ClosingAccount): bigint {
  return BigInt(openingBaseUnits) + BigInt(debitBaseUnits) - BigInt(creditBaseUnits) + BigInt(restatedBaseUnits)
}

function sumOf<Column extends string>(rows: readonly Readonly<Record<Column, string>>[], column: Column): bigint {
  return rows.reduce((sum, row) => sum + BigInt(row[column]), 0n)
}

/** Returns the text of the first difference. Undefined if the statement continues the previous month. */
export function findCarryProblem(statement: ClosingStatement, previous: ClosingStatement): string | undefined {
  if (previous.origin !== statement.origin || previous.mint !== statement.mint) return 'it is of another ledger'
  if (nextMonth(previous.month) !== statement.month)
    return `${previous.month} is not the month before ${statement.month}`
  if (previous.status !== 'final') return `the statement of ${previous.month} is preliminary`
  if (previous.position > statement.position) return `the statement of ${previous.month} ends at a later position`
  const openings = new Map(statement.accounts.map((line) => [line.account, line.openingBaseUnits]))
  const differs = previous.accounts.find(
    ({ account, closingBaseUnits }) => (openings.get(account) ?? '0') !== closingBaseUnits,
  )
  if (differs !== undefined)
    return `${differs.account} closed at ${differs.closingBaseUnits} and opens at ${openings.get(differs.account) ?? '0'}`
  const known = new Set(previous.accounts.map(({ account }) => account))
  const fresh = statement.accounts.find((line) => !known.has(line.account) && line.openingBaseUnits !== '0')
  return fresh === undefined ? undefined : `${fresh.account} opens at ${fresh.openingBaseUnits} and was not closed`
}

export function nextMonth(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return number === 12 ? `${year + 1}-01` : `${year}-${String(number + 1).padStart(2, '0')}`
}
