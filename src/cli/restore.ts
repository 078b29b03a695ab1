import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { z } from 'zod'
import { audit } from '@tollbook/audit'
import { exitCodeOf as auditExitCodeOf } from '@tollbook/audit/auditReport'
import { describeAudit } from '@tollbook/audit/auditText'
import { readVerifierKey, type VerifierKey, verifierKeyOf } from '@tollbook/audit/checkpointNote'
import { hostClock } from '@tollbook/audit/clock'
import { systemClock } from '@tollbook/core/clock'
import { type BackupFolder, backupFolderAt, findBackup } from '../backup/backupFolder.ts'
import { drill, type DrillDeps } from '../backup/drill.ts'
import { describeVerdict, type DrillVerdict, judgeDrill } from '../backup/drillVerdict.ts'
import { layOutBackup } from '../backup/layOutBackup.ts'
import { type Config, readConfig } from '../config.ts'
import { examineRestored } from '../doctor/examine.ts'
import { silentLog } from '../machine/log.ts'
import type { CheckpointFile } from '../store/checkpointFile.ts'
import type { CommandDeps } from './commandDeps.ts'
import { textOfFinding } from './doctor.ts'
import { repeatedOption } from './repeatedOption.ts'
import { exitCodeOf } from './runCommand.ts'
import { UsageProblem } from './usageProblem.ts'

interface RestoreFlags {
  readonly drill?: boolean
  readonly into?: string
  readonly backup?: string
  readonly targetTime?: string
  readonly scratch: string
  readonly checkpoint: readonly string[]
  readonly verifierKey?: string
  readonly database?: string
  readonly superuser: string
}

const exitCodes: Readonly<Record<DrillVerdict, number>> = { sound: 0, broken: 1, older: 3 }

/** `tollbook restore`: a backup into a new data directory, or as a drill into a scratch cluster that is removed. */
export function restoreCommand(deps: CommandDeps): Command {
  return new Command('restore')
    .description(
      'restore a backup of BACKUP_DIR into a new data directory, or prove with --drill that it can be restored',
    )
    .option('--drill', 'restore into a scratch cluster, examine and audit it, print a verdict, and remove it')
    .option('--into <folder>', 'data directory to create; Postgres must not run in it')
    .option('--backup <name>', 'a backup of BACKUP_DIR (default: the newest)')
    .option('--target-time <time>', 'end the replay here, such as 2026-11-26T14:00:00Z (default: the end of the log)')
    .option('--scratch <folder>', 'where the scratch cluster is created', tmpdir())
    .addOption(
      repeatedOption('--checkpoint <file>', 'a stored checkpoint; may be given more than once', 'CHECKPOINT_FILE'),
    )
    .option('--verifier-key <key>', 'key that signs checkpoints, name+id+key (default: that of RECEIPT_SIGNING_KEY)')
    .option('--database <name>', 'database of the ledger (default: that of DATABASE_URL, or tollbook)')
    .option('--superuser <name>', 'superuser of the backed-up cluster', 'postgres')
    .addHelpText('after', restoreHelp)
    .action(async (flags: RestoreFlags) => {
      deps.setExitCode(await exitCodeOf(deps, () => runRestore(deps, flags), broken))
    })
}

const restoreHelp = `
A drill starts a server on a copy, with a socket in a closed folder and no port. The original cluster is not contacted.
It needs the programs of Postgres in the version of the backup, and disk space for one copy in --scratch.

Exit codes:
  0  the backup is sound, and continues the checkpoint if there is one
  1  it is broken, or the drill could not be carried out
  2  wrong usage
  3  it is whole, and older than the checkpoint: the service would refuse it`

const broken = { refused: exitCodes.broken, unavailable: exitCodes.broken }

async function runRestore(deps: CommandDeps, flags: RestoreFlags): Promise<number> {
  const config = readConfig()
  const folder = backupFolderAt(config.backup.folder)
  if ((flags.drill === true) === (flags.into !== undefined))
    throw new UsageProblem('--drill, --into', 'give one of them: a drill, or the data directory to create')
  const keys = readKeys(flags, config)
  const targetMs = readTargetTime(flags.targetTime)
  const backup = await findBackup(folder, flags.backup, targetMs)
  if (flags.into === undefined) return runDrill(deps, { flags, config, folder, backup, keys, targetMs })
  await restoreInto(deps, { backup, folder, dataDirectory: resolve(flags.into), targetMs })
  return 0
}

const isoTime = z.iso.datetime({ offset: true })

function readTargetTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (isoTime.safeParse(text).success) return Date.parse(text)
  throw new UsageProblem('--target-time', `must be a time with its zone, such as 2026-11-26T14:00:00Z (got ${text})`)
}

interface Restoration {
  readonly backup: string
  readonly folder: BackupFolder
  readonly dataDirectory: string
  readonly targetMs: number | undefined
}

async function restoreInto(deps: CommandDeps, restoration: Restoration): Promise<void> {
  const { backup, dataDirectory } = restoration
  const replaysWal = await layOutBackup({ ...restoration, sizeSetting: '--into' })
  deps.stdout.write(
    `restored ${backup} into ${dataDirectory}, ${replaysWal ? 'with' : 'without'} received write-ahead log\n` +
      `Give the folder to the account of Postgres (chown -R), and start the server in it. Then run \`tollbook doctor\`.\n`,
  )
}

interface Drill {
  readonly flags: RestoreFlags
  readonly config: Config
  readonly folder: BackupFolder
  readonly backup: string
  readonly keys: readonly VerifierKey[]
  readonly targetMs: number | undefined
}

async function runDrill(deps: CommandDeps, { flags, config, folder, backup, keys, targetMs }: Drill): Promise<number> {
  const own = config.seal.checkpointFile
  const findings = await drill(
    {
      backup,
      folder,
      targetMs,
      toolsFolder: config.backup.toolsFolder,
      scratchFolder: resolve(flags.scratch),
      superuser: flags.superuser,
      database: flags.database ?? databaseNameOf(config) ?? 'tollbook',
      checkpointFiles: flags.checkpoint.length > 0 || own === undefined ? flags.checkpoint : [own],
      clock: systemClock,
      interrupted: deps.interrupted,
    },
    drillDeps(deps, keys),
  )
  deps.stdout.write(`\n${describeVerdict(findings)}\n`)
  return exitCodes[judgeDrill(findings)]
}

function drillDeps({ stdout, interrupted }: CommandDeps, keys: readonly VerifierKey[]): DrillDeps {
  return {
    log: silentLog,
    onStep: (text) => void stdout.write(`${text}\n`),
    async examine(urls) {
      const failedChecks: string[] = []
      await examineRestored({
        ...urls,
        log: silentLog,
        onFinding(finding) {
          stdout.write(`${textOfFinding(finding)}\n`)
          if (finding.verdict === 'failed') failedChecks.push(`${finding.check}: ${finding.detail}`)
        },
      })
      return failedChecks
    },
    async audit(url: string, checkpoints: readonly CheckpointFile[]) {
      const report = await audit({
        source: { kind: 'database', url },
        verifierKeys: keys,
        ownCheckpoints: checkpoints.map(({ path, note }) => ({ name: path, note })),
        transactions: true,
        chain: undefined,
        resumeFile: undefined,
        clock: hostClock,
        signal: interrupted,
      })
      stdout.write(`\n${describeAudit(report)}`)
      return auditExitCodeOf(report)
    },
  }
}

function readKeys({ verifierKey }: RestoreFlags, config: Config): readonly VerifierKey[] {
  if (verifierKey !== undefined) {
    const key = readVerifierKey(verifierKey)
    if (key !== undefined) return [key]
    throw new UsageProblem('--verifier-key', 'must be name+id+key, as GET /api/ledger/checkpoint names it')
  }
  const wallet = config.chain?.paymentWallet
  const origin = config.seal.origin ?? (wallet === undefined ? undefined : `tollbook/${wallet}`)
  const publicKey = config.receiptSigningKey?.x
  if (origin === undefined || publicKey === undefined) return []
  return [verifierKeyOf(origin, Buffer.from(publicKey, 'base64url'))]
}

function databaseNameOf({ ledger }: Config): string | undefined {
  const name = ledger === undefined ? '' : new URL(ledger.databaseUrl).pathname.slice(1)
  return name === '' ? undefined : decodeURIComponent(name)
}
