import { z } from 'zod'
import { postgresUrl, variable, wholeNumber } from './variables.ts'

const path = z.string().min(1, 'must be a path')

/** For `tollbook backup` and `tollbook restore` only; the service reads none of it. */
export const backupConfig = z.object({
  /** A login with the REPLICATION attribute, never the service's. */
  databaseUrl: variable('BACKUP_DATABASE_URL', postgresUrl),
  /** Folder of the backups, and of the write-ahead log in its folder `wal`. */
  folder: variable('BACKUP_DIR', path.default('backups')),
  /** Base backups that are kept. */
  count: variable('BACKUPS_RETAINED', wholeNumber(1, 1_000, 7)),
  /** Folder of pg_basebackup and the other programs of Postgres. Undefined: they are searched. */
  toolsFolder: variable('BACKUP_TOOLS_DIR', path.optional()),
})
