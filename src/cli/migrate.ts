import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import { findDifferingFunctions } from './differingFunctions.ts'
import { migrate } from '../store/migrate.ts'

/**
 * Never uses DATABASE_URL, because the login of the service must not own the tables. Their owner could switch off the
 * triggers that protect the ledger.
 */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description('migrate the database of MIGRATION_DATABASE_URL to this release; local mode does so automatically')
    .addHelpText(
      'after',
      '\nThe role must own the database and be allowed to create roles. Never use it for the service; see docs/operations.md.',
    )
    .action(async () => {
      const { migrationDatabaseUrl } = readConfig()
      if (migrationDatabaseUrl === undefined)
        throw new UsageProblem(
          'MIGRATION_DATABASE_URL',
          'is missing: the postgres:// URL of the role that owns the database',
        )
      const applied = await migrate({ databaseUrl: migrationDatabaseUrl, findDifferingFunctions })
      process.stdout.write(applied.length === 0 ? 'up to date\n' : applied.map((name) => `applied ${name}\n`).join(''))
    })
}
