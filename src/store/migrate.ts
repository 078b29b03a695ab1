import { fileURLToPath } from 'node:url'
import { migrate as migrateLedger, type SchemaSources } from '@tollbook/ledger/migrate'

function folder(path: string): string {
  return fileURLToPath(new URL(`../../migrations${path}`, import.meta.url))
}

/** The service's SQL; the ledger adds its own functions. */
export const schemaSources: SchemaSources = { numbered: folder(''), code: [folder('/functions'), folder('/kinds')] }

export interface MigrateOptions {
  /** A role that owns the database and may create roles; never the service's (docs/operations.md). */
  readonly databaseUrl: string
}

/** Brings the schema up to this code's version. Names of the files that were applied now. */
export function migrate({ databaseUrl }: MigrateOptions): Promise<readonly string[]> {
  return migrateLedger({ databaseUrl, sources: schemaSources })
}
