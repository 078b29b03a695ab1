import { fileURLToPath } from 'node:url'
import { Fault } from '@tollbook/core/fault'
import { type FindDifferingFunctions, migrate as migrateLedger, type SchemaSources } from '@tollbook/ledger/migrate'
import { isDenied } from './database.ts'

export type { FindDifferingFunctions }

function folder(path: string): string {
  return fileURLToPath(new URL(`../../migrations${path}`, import.meta.url))
}

/** SQL of the service only: the ledger package adds its own functions. */
export const schemaSources: SchemaSources = { numbered: folder(''), code: [folder('/functions'), folder('/kinds')] }

export interface MigrateOptions {
  /**
   * URL for a role that owns the database and may create roles. It must not be the service's role, because an owner can
   * switch off the triggers of the ledger (docs/operations.md).
   */
  readonly databaseUrl: string
  readonly findDifferingFunctions?: FindDifferingFunctions
}

export async function migrate(options: MigrateOptions): Promise<readonly string[]> {
  try {
    return await migrateLedger({ ...options, sources: schemaSources })
  } catch (error) {
    if (!isDenied(error)) throw error
    const advice = 'the role of MIGRATION_DATABASE_URL must own the database and be allowed to create roles'
    throw new Fault(advice, { cause: error, retryable: false })
  }
}
