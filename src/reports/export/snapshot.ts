import type { Kysely } from 'kysely'
import type { Tables } from '../../store/tables.ts'

/** A database transaction that sees the ledger of the moment when it began. */
export type Snapshot = Kysely<Tables>
