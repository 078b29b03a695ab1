import pg from 'pg'
import { assertPresent } from '@tollbook/core/assert'
import type { Aspect, FindingCode } from '@tollbook/audit/findings'
import { tamper } from '../store/tamper.ts'

/* What a superuser who switches every trigger off can do to a book, and how an audit must find it. */

export interface Found {
  readonly aspect: Aspect
  readonly code: FindingCode
  /** Undefined where the finding has no place in the ledger. */
  readonly position: number | undefined
}

export interface Tampering {
  readonly name: string
  /** Does it, and says what an audit has to find first in that aspect. */
  readonly run: (book: TamperedBook) => Promise<Found>
}

/** A copy of the book that may be spoiled. */
export interface TamperedBook {
  sql(statement: string): Promise<void>
  value(query: string): Promise<number>
  /** The position of the nth event of a kind, from 0. */
  nth(kind: string, index: number): Promise<number>
  /** The size of the first checkpoint that covers the position. */
  checkpointOver(position: number): Promise<number>
  head(): Promise<number>
}

export async function withTamperedBook<T>(adminUrl: string, work: (book: TamperedBook) => Promise<T>): Promise<T> {
  const admin = new pg.Pool({ connectionString: adminUrl, max: 1, application_name: 'tampering' })
  const value = async (query: string): Promise<number> => {
    const { rows } = await admin.query<{ value: string | null }>({ text: query })
    return Number(assertPresent(rows[0]?.value, `one value for ${query}`))
  }
  try {
    return await work({
      sql: (statement) => tamper(admin, statement),
      value,
      nth: (kind, index) =>
        value(`select seq as value from ledger.events where kind = '${kind}' order by seq offset ${index} limit 1`),
      checkpointOver: (position) =>
        value(`select min(size) as value from ledger.checkpoints where size >= ${position}`),
      head: () => value('select max(seq) as value from ledger.events'),
    })
  } finally {
    await admin.end()
  }
}

/** Makes the leaf of a row again, as somebody would who knows how it is made. */
export const forgeLeaf = `update ledger.events set leaf_hash = sha256('\\x00'::bytea || int8send(seq)
  || int8send((extract(epoch from recorded_at) * 1000)::bigint) || body)`

export function editBody(position: number, from: string, to: string): string {
  return `update ledger.events set body = convert_to(regexp_replace(convert_from(body, 'UTF8'), '${from}', '${to}'), 'UTF8')
    where seq = ${position}`
}

/** A body changed by somebody who makes its leaf again. The tree tells, and so does the rule that was broken. */
export function forged(
  name: string,
  edit: { readonly kind: string; readonly from: string; readonly to: string; readonly nth?: number },
  found: { readonly aspect: Aspect; readonly code: FindingCode },
): Tampering {
  return {
    name: `${name}, its leaf made again`,
    run: async (book) => {
      const position = await book.nth(edit.kind, edit.nth ?? 4)
      await book.sql(`${editBody(position, edit.from, edit.to)}; ${forgeLeaf} where seq = ${position}`)
      return { ...found, position }
    },
  }
}

export function onRow(
  name: string,
  kind: string,
  found: Omit<Found, 'position'>,
  statement: (position: number) => string,
): Tampering {
  return {
    name,
    run: async (book) => {
      const position = await book.nth(kind, 5)
      await book.sql(statement(position))
      return { ...found, position }
    },
  }
}

/** A projection changed: the finding is at the payment's last event. */
export function onPayment(name: string, assignment: string): Tampering {
  return {
    name,
    run: async (book) => {
      const where = `where signature = (select signature from ledger.payments where state = 'fulfilled' order by seqs offset 3 limit 1)`
      const position = await book.value(`select seqs[cardinality(seqs)] as value from ledger.payments ${where}`)
      await book.sql(`update ledger.payments set ${assignment} ${where}`)
      return { aspect: 'completeness', code: 'payment_row_differs', position }
    },
  }
}
