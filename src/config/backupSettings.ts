import { z } from 'zod'
import { postgresUrl, wholeNumber } from './variables.ts'

/** For `tollbook backup` and `tollbook restore` only; the service reads none of it. */
export interface BackupSettings {
  /** A login with the REPLICATION attribute, never the service's. */
  readonly databaseUrl: string | undefined
  /** Folder of the backups, and of the write-ahead log in its folder `wal`. */
  readonly folder: string
  /** Base backups that are kept. */
  readonly count: number
  /** Folder of pg_basebackup and the other programs of Postgres. Undefined: they are searched. */
  readonly toolsFolder: string | undefined
}

const path = z.string().min(1, 'must be a path')

export const backupVariables = {
  BACKUP_DATABASE_URL: postgresUrl,
  BACKUP_DIR: path.default('backups'),
  BACKUPS_RETAINED: wholeNumber(1, 1_000, 7),
  BACKUP_TOOLS_DIR: path.optional(),
}

export function backupSettingsOf(env: z.infer<z.ZodObject<typeof backupVariables>>): BackupSettings {
  return {
    databaseUrl: env.BACKUP_DATABASE_URL,
    folder: env.BACKUP_DIR,
    count: env.BACKUPS_RETAINED,
    toolsFolder: env.BACKUP_TOOLS_DIR,
  }
}
