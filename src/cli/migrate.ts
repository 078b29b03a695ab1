import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { Fault } from '@tollbook/core/fault'
import { migrate } from '../store/migrate.ts'

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database of MIGRATION_DATABASE_URL up to this release; local mode does it by itself')
    .addHelpText(
      'after',
      '\nThe role needs to own the database and may create roles. It is never the role of the service; see docs/operations.md.',
    )
    .action(async () => {
      const { migrationDatabaseUrl } = readConfig()
      if (migrationDatabaseUrl === undefined) {
        throw new Fault('MIGRATION_DATABASE_URL is missing: the postgres:// URL of the role that owns the database', {
          retryable: false,
        })
      }
      const applied = await migrate({ databaseUrl: migrationDatabaseUrl })
      process.stdout.write(applied.length === 0 ? 'up to date\n' : applied.map((name) => `applied ${name}\n`).join(''))
    })
}
