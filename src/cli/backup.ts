import { Command, Option } from 'commander'
import { systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { backupFolderAt } from '../backup/backupFolder.ts'
import { receiveWal, type WalOrder } from '../backup/receiveWal.ts'
import { takeBackup } from '../backup/takeBackup.ts'
import { readConfig } from '../config.ts'
import type { CommandDeps } from './commandDeps.ts'
import { untilStopped } from './untilStopped.ts'

/** `tollbook backup`: base backups and the write-ahead log, by the programs of Postgres. */
export function backupCommand(deps: CommandDeps): Command {
  return new Command('backup')
    .description('copy the cluster of BACKUP_DATABASE_URL into BACKUP_DIR, and verify the copy')
    .addHelpText('after', backupHelp)
    .addOption(new Option('--quiet', 'print the result only'))
    .action(async ({ quiet = false }: { readonly quiet?: boolean }) => {
      const { count, ...order } = readOrder(deps, quiet)
      const { path, bytes, removed } = await takeBackup({ ...order, count, nowMs: systemClock.nowMs() })
      for (const name of removed) deps.stdout.write(`removed ${name}, because ${count} are kept (BACKUPS_RETAINED)\n`)
      deps.stdout.write(`${path}, ${Math.ceil(bytes / 1_000_000)} MB, verified\n`)
    })
    .addCommand(walCommand(deps))
}

function walCommand(deps: CommandDeps): Command {
  return new Command('wal')
    .description('receive the write-ahead log into BACKUP_DIR/wal as it is written, until SIGTERM or Ctrl-C')
    .action(async () => {
      const { count: _, ...order } = readOrder(deps, false)
      const stopping = new AbortController()
      void untilStopped(deps.interrupted).then(() => stopping.abort())
      deps.stderr.write(`receiving the write-ahead log into ${order.folder.walFolder}\n`)
      // Without a terminal too: pg_receivewal tries again by itself, so only its messages show a full disk or a lost server.
      const onMessage = (text: string) => void deps.stderr.write(text)
      await receiveWal({ ...order, interrupted: stopping.signal, onMessage })
    })
}

const backupHelp = `
BACKUP_DATABASE_URL is a login with the REPLICATION attribute. pg_basebackup and pg_verifybackup of the version of the server
must be installed; BACKUP_TOOLS_DIR names their folder. The newest BACKUPS_RETAINED (7) base backups are kept, and the
write-ahead log since the oldest of them.

A base backup does not contain later payments. Run \`tollbook backup wal\` continuously to keep those too.
\`tollbook restore --drill\` shows that a backup can be restored.

Exit codes: 0 the backup is whole and verified; 1 no backup was made, with the reason; 2 wrong usage`

function readOrder(deps: CommandDeps, isQuiet: boolean): WalOrder & { readonly count: number } {
  const { databaseUrl, folder, count, toolsFolder } = readConfig().backup
  if (databaseUrl === undefined)
    throw new Fault('BACKUP_DATABASE_URL is missing: the postgres:// URL of a login with the REPLICATION attribute', {
      retryable: false,
    })
  return {
    databaseUrl,
    folder: backupFolderAt(folder),
    toolsFolder,
    count,
    interrupted: deps.interrupted,
    // pg_basebackup writes its progress for a terminal.
    onMessage: (text) => (isQuiet || deps.stderr.isTTY !== true ? undefined : void deps.stderr.write(text)),
  }
}
