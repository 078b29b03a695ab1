import { z } from 'zod'
import { isBase58Of32Bytes } from '@tollbook/core/base58'
import { isoTime } from '@tollbook/core/clock'
import { readTabId } from '@tollbook/core/tab'
import { refundStates } from './refundLines.ts'

export const groupings = ['day', 'endpoint', 'wallet'] as const

export const stateNames = [
  'submitted',
  'claimed',
  'streaming',
  'released',
  'fulfilled',
  'exhausted',
  'refund_due',
  'reversed',
  'unmatched',
] as const

export interface QuestionProblem {
  readonly field: string
  readonly message: string
}

// Maximum of rows per page, because a page is built in memory and drawn as a table. The CSV is streamed and has no
// limit.
export const limitMax = 1_000
const limitStandard = 100
const textMax = 200

// Wallet in the reports for tokens that were minted to the payment wallet, because such tokens have no sender.
const unknownWallet = 'unknown'

const day = z.iso
  .date('must be a day such as 2026-11-21, in UTC')
  .refine((text) => text >= '1970', 'must not be before 1970')
  .optional()
// Accept years from 1970: no payment is older, databases have no year 0, and Date.UTC reads the year 50 as 1950.
const year = /(?:19[7-9]\d|[2-9]\d{3})/.source
const monthPattern = new RegExp(`^${year}-(0[1-9]|1[0-2])$`)
const text = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(textMax, 'is too long')
  // Reject control characters. Postgres cannot store a NUL, and no name in the ledger has a control character.
  .regex(/^\P{Cc}*$/u, 'must be printable')
  .optional()
const shownMax = 60
/** Rejects texts that are not wallets. Otherwise a wallet that was pasted in part would seem to have no payments. */
const wallet = z
  .string()
  .trim()
  .refine((text) => text === unknownWallet || isBase58Of32Bytes(text), {
    error: ({ input }) =>
      `must be a wallet address, 32 to 44 characters of base58 in which upper and lower case differ (got ${JSON.stringify(String(input).slice(0, shownMax))})`,
  })
  .optional()
const shape = z
  .strictObject({
    // First and last UTC day, inclusive. Absent: no limit.
    from: day,
    to: day,
    month: z.string().regex(monthPattern, 'must be a month such as 2026-11').optional(),
    quarter: z
      .string()
      .regex(new RegExp(`^${year}-Q[1-4]$`), 'must be a quarter such as 2026-Q4')
      .optional(),
    by: z.enum(groupings, `must be one of ${groupings.join(', ')}`).default('day'),
    endpoint: text,
    wallet,
    state: z.enum(stateNames, `must be one of ${stateNames.join(', ')}`).optional(),
    refund: z.enum(refundStates, `must be one of ${refundStates.join(', ')}`).optional(),
    tab: z
      .string()
      .refine((id) => readTabId(id) !== undefined, 'must be the id of a tab')
      .optional(),
    // `wallets`: only debts to wallets, that is, the refunds due.
    owedTo: z.enum(['all', 'shares', 'wallets'], 'must be all, shares or wallets').default('all'),
    // Columns of the answer, in the order of the report. Absent: all.
    columns: z
      .string()
      .max(2_000, 'is too long')
      .regex(/^[A-Za-z0-9-]+(,[A-Za-z0-9-]+)*$/, 'must be names of columns, separated by commas')
      .transform((names) => names.split(','))
      .optional(),
    cursor: text,
    limit: z
      .string()
      .regex(/^[1-9]\d{0,3}$/, `must be a whole number from 1 to ${limitMax}`)
      .transform(Number)
      .refine((limit) => limit <= limitMax, `must be a whole number from 1 to ${limitMax}`)
      .default(limitStandard),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    path: ['to'],
    message: 'must not be before from',
  })
  .refine(
    ({ from, to, month, quarter }) => [from ?? to, month, quarter].filter((given) => given !== undefined).length <= 1,
    {
      path: ['month'],
      message: 'goes with neither quarter nor from and to',
    },
  )

export type ReportQuestion = Readonly<Omit<z.output<typeof shape>, 'month' | 'quarter'>>

export interface ReportParameters {
  /**
   * Accepted parameters besides `columns`, which every report accepts. Others are rejected, because a caller would
   * misread a report that ignored a parameter.
   */
  readonly accepts: readonly string[]
  readonly requires?: 'tab'
  /** Checks the form of a cursor from the report's `next`. Undefined: the report is short and has no pages. */
  readonly isCursor?: (cursor: string, by: ReportQuestion['by']) => boolean
}

export const days = ['from', 'to', 'month', 'quarter']

/** True for a month such as `2026-11` that is not in the future. */
export function hasBegun(month: string, nowMs: number): boolean {
  return monthPattern.test(month) && month <= isoTime(nowMs).slice(0, 7)
}

/**
 * True for a valid cursor of a report by groups. The cursor of a report by day is a day. Other groupings accept any
 * text.
 */
export function isGroup(cursor: string, by: ReportQuestion['by']): boolean {
  return by !== 'day' || day.safeParse(cursor).success
}

/** True for a position in a list: the time and position of a payment, or the position and line of a payout. */
export function isPlace(cursor: string): boolean {
  return /^\d{1,13}\.\d{1,15}$/.test(cursor)
}

export function isPosition(cursor: string): boolean {
  return /^\d{1,15}$/.test(cursor)
}

export function parseQuestion(
  report: string,
  { accepts, requires, isCursor }: ReportParameters,
  given: Readonly<Record<string, string>>,
): ReportQuestion | readonly QuestionProblem[] {
  const known = [...accepts, 'columns']
  const unknown = Object.keys(given).filter((field) => !known.includes(field))
  if (unknown.length > 0)
    return unknown.map((field) => ({ field, message: `is unknown here; ${report} takes ${known.join(', ')}` }))
  const parsed = shape.safeParse(given)
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message }))
  const { month, quarter, ...question } = parsed.data
  if (requires !== undefined && question[requires] === undefined)
    return [{ field: requires, message: 'must be the id of a tab' }]
  if (question.cursor !== undefined && isCursor?.(question.cursor, question.by) !== true)
    return [{ field: 'cursor', message: 'must be the `next` of the page before this one' }]
  return { ...question, ...daysOf(month, quarter) }
}

function daysOf(month: string | undefined, quarter: string | undefined): Pick<ReportQuestion, 'from' | 'to'> {
  if (month !== undefined) return { from: `${month}-01`, to: lastDayOf(month) }
  const [year, number] = quarter?.split('-Q') ?? []
  if (year === undefined || number === undefined) return {}
  const monthOf = (nth: number) => `${year}-${String(nth).padStart(2, '0')}`
  const last = Number(number) * 3
  return { from: `${monthOf(last - 2)}-01`, to: lastDayOf(monthOf(last)) }
}

export function lastDayOf(month: string): string {
  const [year, number] = month.split('-').map(Number)
  return isoTime(Date.UTC(year ?? 0, number ?? 0, 0)).slice(0, 10)
}

export function isProblems(read: ReportQuestion | readonly QuestionProblem[]): read is readonly QuestionProblem[] {
  return Array.isArray(read)
}
