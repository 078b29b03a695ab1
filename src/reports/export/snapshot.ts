import type { Kysely } from 'kysely'
import type { Tables } from '../../store/tables.ts'

/** A database transaction that reads the ledger as of its start. */
export type Snapshot = Kysely<Tables>
