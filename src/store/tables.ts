import type { ColumnType } from 'kysely'

/**
 * The tables and columns that typed queries read. The service may only read tables and call functions. A `numeric`
 * value arrives as text, and the reading code converts it to a bigint. Positions are safe integers for the next 9e15
 * events.
 */
export interface Tables {
  'ledger.streams': Readable<{ id: Buffer; stream: number; kind: string; state: string }>
  'ledger.accounts': Readable<{ mint: string; name: string; balance: string }>
  'ledger.settings': Readable<{ name: string; number: number; seq: number; valid_from: Date; body: Buffer }>
  'work.open': Readable<{ queue: string; stream: number; id: Buffer; due_at: Date }>
  'work.presentations': Readable<{
    reference: Buffer
    wallet: string
    presented_at: Date
    last_valid_height: number
    recorded_at: Date
  }>
  'paywall.transfer_scans': Readable<{ token_account: string; signature: string; slot: number }>
  'news.articles': Readable<{
    url_hash: Buffer
    url: string
    title: string
    publisher: string
    provider: string
    published_at: Date
    description: string | null
    image_url: string | null
    language: string | null
    cluster: string
    leads: boolean
  }>
}

/** Columns that can only be selected, because the grants permit nothing more. */
type Readable<Columns> = { [Column in keyof Columns]: ColumnType<Columns[Column], never, never> }
