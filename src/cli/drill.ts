import { tmpdir } from 'node:os'
import { Command } from 'commander'
import { audit } from '@tollbook/audit'
import { exitCodeOf as auditExitCodeOf } from '@tollbook/audit/auditReport'
import { describeAudit } from '@tollbook/audit/auditText'
import type { VerifierKey } from '@tollbook/audit/checkpointNote'
import { hostClock } from '@tollbook/audit/clock'
import { systemClock } from '@tollbook/core/clock'
import { drill, type DrillDeps } from '../backup/drill.ts'
import { describeVerdict, type DrillVerdict, judgeDrill } from '../backup/drillVerdict.ts'
import { readConfig } from '../config.ts'
import { examineRestored } from '../doctor/examine.ts'
import { silentLog } from '../machine/log.ts'
import type { CheckpointFile } from '../store/checkpointFile.ts'
import type { CommandDeps } from './commandDeps.ts'
import { textOfFinding } from './doctor.ts'
import { type DrillFlags, readDrillOrder, readVerifierKeys } from './drillOrder.ts'
import { repeatedOption } from './repeatedOption.ts'
import { exitCodeOf } from './runCommand.ts'

const exitCodes: Readonly<Record<DrillVerdict, number>> = { sound: 0, broken: 1, older: 3 }

/**
 * A backup may be unusable without a sign of it. The drill restores a copy, and judges its ledger by signed
 * checkpoints, the checks of the doctor and the audit.
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
  3  it is whole, and older than the checkpoint: the service would refuse it
  130  interrupted, without a verdict`

// A drill that could not be carried out proves nothing, so it counts as broken.
const broken = { refused: exitCodes.broken, unavailable: exitCodes.broken }

async function runDrill(deps: CommandDeps, flags: DrillFlags): Promise<number> {
  const config = readConfig()
  const repository = { stanza: flags.stanza, interrupted: deps.interrupted }
  const options = { ...(await readDrillOrder(flags, config)), repository, clock: systemClock }
  const findings = await drill(options, drillDeps(deps, readVerifierKeys(flags, config)))
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
