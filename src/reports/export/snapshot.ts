import type { Kysely } from 'kysely'
import type { Tables } from '../../store/tables.ts'

/** One database transaction that sees the book as it was when it began. */
export type Snapshot = Kysely<Tables>
