import pg from 'pg'
import { assertPresent } from '@tollbook/core/assert'
import type { Aspect, FindingCode } from '@tollbook/audit/findings'
import { tamper } from '../store/tamper.ts'

/* Changes by a superuser who switches every trigger off, and the finding that an audit must report. */

export interface Found {
  readonly aspect: Aspect
  readonly code: FindingCode
  /** Undefined where the finding has no place in the ledger. */
  readonly position: number | undefined
}

export interface Tampering {
  readonly name: string
  /** Makes the change; returns the finding that has to come first in that aspect. */
  readonly run: (ledger: TamperedLedger) => Promise<Found>
}

/** A copy of the ledger that may be changed. */
export interface TamperedLedger {
  sql(statement: string): Promise<void>
  value(query: string): Promise<number>
  /** The position of the nth event of a kind, from 0. */
  nth(kind: string, index: number): Promise<number>
  /** The size of the first checkpoint that covers the position. */
  checkpointOver(position: number): Promise<number>
  head(): Promise<number>
}

export async function withTamperedLedger<T>(
  adminUrl: string,
  work: (ledger: TamperedLedger) => Promise<T>,
): Promise<T> {
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

/** Makes the leaf of a row again, as the write path makes it. */
export const forgeLeaf = `update ledger.events set leaf_hash = sha256('\\x00'::bytea || int8send(seq)
  || int8send((extract(epoch from recorded_at) * 1000)::bigint) || body)`

export function editBody(position: number, from: string, to: string): string {
  return `update ledger.events set body = convert_to(regexp_replace(convert_from(body, 'UTF8'), '${from}', '${to}'), 'UTF8')
    where seq = ${position}`
}

/** A changed body with a new leaf. The tree shows it, and so does the rule that was broken. */
export function forged(
  name: string,
  edit: { readonly kind: string; readonly from: string; readonly to: string; readonly nth?: number },
  found: { readonly aspect: Aspect; readonly code: FindingCode },
): Tampering {
  return {
    name: `${name}, its leaf made again`,
    run: async (ledger) => {
      const position = await ledger.nth(edit.kind, edit.nth ?? 4)
      await ledger.sql(`${editBody(position, edit.from, edit.to)}; ${forgeLeaf} where seq = ${position}`)
      return { ...found, position }
    },
  }
}

type Finding = Omit<Found, 'position'>

/** A change at the position that a query returns. */
export function onPlace(
  name: string,
  query: string,
  found: Finding,
  statement: (position: number) => string,
): Tampering {
  return {
    name,
    run: async (ledger) => {
      const position = await ledger.value(query)
      await ledger.sql(statement(position))
      return { ...found, position }
    },
  }
}

/** A change at the event of a kind with this number, from 0. */
export function onRow(
  name: string,
  [kind, nth]: readonly [kind: string, nth: number],
  found: Finding,
  statement: (position: number) => string,
): Tampering {
  return {
    name,
    run: async (ledger) => {
      const position = await ledger.nth(kind, nth)
      await ledger.sql(statement(position))
      return { ...found, position }
    },
  }
}

export const deleted = (position: number): string => `delete from ledger.events where seq = ${position}`

/** A change whose finding does not depend on the ledger. */
export function changed(name: string, found: Found, statement: string): Tampering {
  return {
    name,
    run: async (ledger) => {
      await ledger.sql(statement)
      return found
    },
  }
}

/** A row of `streams` changed: the finding is at the stream's last event. */
export function onStream(name: string, assignment: string, which = servedStream): Tampering {
  return {
    name,
    run: async (ledger) => {
      const position = await ledger.value(lastPositionOf(which))
      await ledger.sql(`update ledger.streams set ${assignment} where id = ${which}`)
      return { aspect: 'completeness', code: 'stream_differs', position }
    },
  }
}

const servedStream = `(select id from ledger.streams where kind = 'payment' and state like 'fulfilled%' order by stream offset 3 limit 1)`

export function lastPositionOf(id: string): string {
  return `select upper(seqs) - 1 as value from ledger.streams where id = ${id}`
}

/** A row of `accounts` changed: the finding is at the last event that moves the account. */
export function onAccount(name: string, account: string, assignment: string): Tampering {
  return {
    name,
    run: async (ledger) => {
      const id = await ledger.value(accountNumber(account))
      const position = await ledger.value(
        `select max(seq) as value from ledger.events where ${id} = any (debits || credits)`,
      )
      await ledger.sql(`update ledger.accounts set ${assignment} where id = ${id}`)
      return { aspect: 'arithmetic', code: 'account_differs', position }
    },
  }
}

/** In the mint that most payments are made in. */
export function accountNumber(account: string): string {
  return `select id as value from ledger.accounts where name like '${account}' order by debit_entries + entries desc, id limit 1`
}
