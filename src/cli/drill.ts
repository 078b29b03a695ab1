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
import { drill, type DrillDeps } from '../backup/drill.ts'
import { describeVerdict, type DrillVerdict, judgeDrill } from '../backup/drillVerdict.ts'
import { type Config, readConfig } from '../config.ts'
import { examineRestored } from '../doctor/examine.ts'
import { silentLog } from '../machine/log.ts'
import type { CheckpointFile } from '../store/checkpointFile.ts'
import type { CommandDeps } from './commandDeps.ts'
import { textOfFinding } from './doctor.ts'
import { repeatedOption } from './repeatedOption.ts'
import { exitCodeOf } from './runCommand.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

interface DrillFlags {
  readonly stanza: string
  readonly targetTime?: string
  readonly receivedWal?: string
  readonly scratch: string
  readonly programs?: string
  readonly checkpoint: readonly string[]
  readonly verifierKey?: string
  readonly database?: string
  readonly superuser: string
}

const exitCodes: Readonly<Record<DrillVerdict, number>> = { sound: 0, broken: 1, older: 3 }

/**
 * Only a restore proves a backup. The drill restores a copy, and judges its ledger by signed checkpoints, the checks of
 * the doctor and the audit.
 */
export function drillCommand(deps: CommandDeps): Command {
  return new Command('drill')
    .description('restore a backup of pgBackRest into a scratch cluster, examine and audit it, and print a verdict')
    .option('--stanza <name>', 'the stanza of pgBackRest', 'tollbook')
    .option(
      '--target-time <time>',
      'end the replay here, such as 2026-11-26T14:00:00Z (default: the end of the archive)',
    )
    .option('--received-wal <folder>', 'where pg_receivewal writes the log that is not archived yet')
    .option('--scratch <folder>', 'where the scratch cluster is created', tmpdir())
    .option('--programs <folder>', 'the programs of Postgres (default: /usr/lib/postgresql/VERSION/bin)')
    .addOption(
      repeatedOption('--checkpoint <file>', 'a stored checkpoint; may be given more than once', 'CHECKPOINT_FILE'),
    )
    .option('--verifier-key <key>', 'key that signs checkpoints, name+id+key (default: that of RECEIPT_SIGNING_KEY)')
    .option('--database <name>', 'database of the ledger (default: that of DATABASE_URL, or tollbook)')
    .option('--superuser <name>', 'superuser of the backed-up cluster', 'postgres')
    .addHelpText('after', drillHelp)
    .action(async (flags: DrillFlags) => {
      deps.setExitCode(await exitCodeOf(deps, () => runDrill(deps, flags), broken))
    })
}

const drillHelp = `
pgBackRest reads its own configuration: pgbackrest.conf and PGBACKREST_… variables. Run the drill as an account that may read
the repository and is not root. It starts a server on a copy, with a socket in a closed folder and no port. The original
cluster is not contacted. --scratch needs disk space for one copy.

Exit codes:
  0  the backup is sound, and continues the checkpoint if there is one
  1  it is broken, or the drill could not be carried out
  2  wrong usage
  3  it is whole, and older than the checkpoint: the service would refuse it`

// A drill that could not be carried out proves nothing, so it counts as broken.
const broken = { refused: exitCodes.broken, unavailable: exitCodes.broken }

async function runDrill(deps: CommandDeps, flags: DrillFlags): Promise<number> {
  const config = readConfig()
  const own = config.seal.checkpointFile
  const findings = await drill(
    {
      repository: { stanza: flags.stanza, interrupted: deps.interrupted },
      targetMs: readTargetTime(flags.targetTime),
      receivedWal: flags.receivedWal === undefined ? undefined : resolve(flags.receivedWal),
      programs: flags.programs,
      scratchFolder: resolve(flags.scratch),
      superuser: flags.superuser,
      database: flags.database ?? databaseNameOf(config) ?? 'tollbook',
      checkpointFiles: flags.checkpoint.length > 0 || own === undefined ? flags.checkpoint : [own],
      clock: systemClock,
    },
    drillDeps(deps, readKeys(flags, config)),
  )
  deps.stdout.write(`\n${describeVerdict(findings)}\n`)
  return exitCodes[judgeDrill(findings)]
}

const isoTime = z.iso.datetime({ offset: true })

function readTargetTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (isoTime.safeParse(text).success) return Date.parse(text)
  throw new UsageProblem('--target-time', `must be a time with its zone, such as 2026-11-26T14:00:00Z (got ${text})`)
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

function readKeys({ verifierKey }: DrillFlags, config: Config): readonly VerifierKey[] {
  if (verifierKey !== undefined) {
    const key = readVerifierKey(verifierKey)
    if (key !== undefined) return [key]
    throw new UsageProblem('--verifier-key', 'must be name+id+key, as GET /api/ledger/checkpoint names it')
  }
  const wallet = config.chain?.paymentWallet
  // The default is the name under which a service without LEDGER_ORIGIN signs, because the key has this name too.
  const origin = config.seal.origin ?? (wallet === undefined ? undefined : `tollbook/${wallet}`)
  const publicKey = config.receiptSigningKey?.x
  if (origin === undefined || publicKey === undefined) return []
  return [verifierKeyOf(origin, Buffer.from(publicKey, 'base64url'))]
}

function databaseNameOf({ ledger }: Config): string | undefined {
  const name = ledger === undefined ? '' : new URL(ledger.databaseUrl).pathname.slice(1)
  return name === '' ? undefined : decodeURIComponent(name)
}
