import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import { cosignCheckpoint } from '@tollbook/client/cosignCheckpoint'
import { fetchCheckpoint, fetchConsistency } from '@tollbook/client/fetchCheckpoint'
import { type NoteVerifier, readCheckpoint } from '@tollbook/core/checkpoint'
import { isoTime } from '@tollbook/core/clock'
import { openCosignature, readWitnessKey } from '@tollbook/core/cosignature'
import { Fault } from '@tollbook/core/fault'
import { writeFileAtomically } from '../machine/writeFileAtomically.ts'
import type { CommandDeps } from './commandDeps.ts'
import { runOnSchedule } from './onSchedule.ts'
import { exitCodeOf } from './runCommand.ts'
import { fetchUntil, readSealSource, requireUrl } from './sealSource.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

interface WitnessOptions {
  readonly witnessUrl: string
  readonly witnessKey: string
  readonly output: string
  readonly baseUrl?: string
  readonly key?: string
  readonly every?: string
}

const exitHelp = `
Exit codes:
  0  the file has the checkpoint with the witness's cosignature
  2  wrong usage: an option or a file
  4  refused: the witness does not sign, or has seen a tree that the checkpoint does not continue
  7  the service or the witness does not answer; run it again`

/**
 * A witness refuses a tree that does not continue the last tree that it cosigned. The next cosignature therefore fails
 * if a rewrite or a restored backup has changed or lost events of that tree.
 */
export function witnessCommand(deps: CommandDeps): Command {
  return new Command('witness')
    .description('request a cosignature of the newest checkpoint from a C2SP witness, and store it')
    .requiredOption('--witness-url <url>', 'prefix of the witness, without /add-checkpoint')
    .requiredOption('--witness-key <key>', 'key of the witness, name+id+key')
    .requiredOption('--output <file>', 'file for the cosigned checkpoint; auditors pass it to --checkpoint')
    .option('--base-url <url>', 'the service (default: the one that runs in local mode)')
    .option('--key <file>', 'key of the service, JWK or JWKS (default: local mode)')
    .option('--every <duration>', 'repeat at this interval, such as 10m, until interrupted')
    .addHelpText('after', exitHelp)
    .action(async (options: WitnessOptions) => {
      deps.setExitCode(await runOnSchedule(deps, options.every, (stopping) => cosign(deps, options, stopping)))
    })
}

function cosign(deps: CommandDeps, options: WitnessOptions, stopping: AbortSignal): Promise<number> {
  const fetch = fetchUntil(stopping)
  return exitCodeOf(deps, async () => {
    const url = requireUrl('--witness-url', options.witnessUrl)
    const witness = readWitnessKey(options.witnessKey)
    if (witness === undefined)
      throw new UsageProblem('--witness-key', `must be name+id+key of a cosignature/v1 key (got ${options.witnessKey})`)
    const { baseUrl, keys } = await readSealSource(deps, options)
    const { checkpoint, note } = await fetchCheckpoint({ baseUrl, keys, fetch })
    const proveConsistency = (sizes: { readonly from: number; readonly to: number }) =>
      fetchConsistency(baseUrl, { ...sizes, fetch })
    const seenSize = await readSeenSize(options.output, witness, checkpoint.size)
    const cosigned = await cosignCheckpoint({ url, witness, proveConsistency, fetch }, note, seenSize)
    // Only a verified cosignature replaces the file, because the next run starts from the size in the file.
    await writeFileAtomically(options.output, cosigned.note, '--output')
    const { origin, size } = checkpoint
    const cosignedAt = isoTime(cosigned.timeSeconds * 1000)
    deps.stdout.write(`${JSON.stringify({ origin, size, witness: witness.name, cosignedAt, file: options.output })}\n`)
    return 0
  })
}

/**
 * Returns the size of the cosigned checkpoint in the file. 0 if there is none, because the witness then reports the
 * size that it has seen. Throws a fault if the service has fewer events.
 */
async function readSeenSize(path: string, witness: NoteVerifier, sizeMax: number): Promise<number> {
  const note = await readFile(path, 'utf8').catch(() => '')
  const size = openCosignature(note, witness) === undefined ? 0 : (readCheckpoint(note)?.size ?? 0)
  if (size <= sizeMax) return size
  throw new Fault(
    `${path} has a cosigned checkpoint of ${size} events, and the service has ${sizeMax}: an older copy of the ledger was restored`,
    { retryable: false },
  )
}
