import { Command } from 'commander'
import { anchorCheckpoint } from '@tollbook/client/anchorCheckpoint'
import { fetchCheckpoint } from '@tollbook/client/fetchCheckpoint'
import { readKeypair } from '@tollbook/client/keypairFile'
import { encodeBase64 } from '@tollbook/core/base64'
import { readConfig } from '../config.ts'
import { writeFileAtomically } from '../machine/writeFileAtomically.ts'
import type { CommandDeps } from './commandDeps.ts'
import { runOnSchedule } from './onSchedule.ts'
import { exitCodeOf, printResult, unavailableExitCode, usageExitCode } from './runCommand.ts'
import { readSealSource, requireUrl } from './sealSource.ts'

interface AnchorOptions {
  readonly keypair: string
  readonly baseUrl?: string
  readonly rpcUrl?: string
  readonly key?: string
  readonly output?: string
  readonly every?: string
}

/**
 * The command is a separate process that reads public routes only, because a rewritten service would anchor its own
 * rewriting (decision 0010).
 */
export function anchorCommand(deps: CommandDeps): Command {
  return new Command('anchor')
    .description(
      'write the newest checkpoint of the service into a memo on Solana, signed and paid with a separate key',
    )
    .requiredOption('--keypair <file>', 'keypair file of the Solana CLI; needs only a little SOL for fees')
    .option('--base-url <url>', 'the service (default: the one that runs in local mode)')
    .option('--rpc-url <url>', 'a Solana node (default: ANCHOR_RPC_URL, or the chain of local mode)')
    .option(
      '--key <file>',
      'key of the service, JWK or JWKS, that the checkpoint must be signed with (default: local mode)',
    )
    .option('--output <file>', 'file for the printed JSON of the newest anchor, which names its transaction')
    .option('--every <duration>', 'repeat at this interval, such as 1h, until interrupted')
    .addHelpText('after', anchorExitHelp)
    .action(async (options: AnchorOptions) => {
      deps.setExitCode(await runOnSchedule(deps, options.every, (stopping) => anchor(deps, options, stopping)))
    })
}

const anchorExitHelp = `
Exit codes:
  0  on chain and confirmed
  2  wrong usage: an option or a file; or the checkpoint is not signed with the key
  7  the service or the node does not answer, or the transaction did not land; run it again`

async function anchor(deps: CommandDeps, options: AnchorOptions, signal: AbortSignal): Promise<number> {
  const work = async () => {
    const { baseUrl, keys, localRpcUrl } = await readSealSource(deps, options)
    const rpcUrl = requireUrl('--rpc-url', options.rpcUrl ?? readConfig().seal.anchorRpcUrl ?? localRpcUrl)
    const keypair = await readKeypair(options.keypair)
    const { checkpoint } = await fetchCheckpoint({ baseUrl, keys })
    const { signature, memo } = await anchorCheckpoint({ rpcUrl, keypair, signal, clock: deps.clock }, checkpoint)
    const { origin, size, root } = checkpoint
    const json = { origin, size, root: encodeBase64(root), signature, memo }
    if (options.output !== undefined) await writeFileAtomically(options.output, `${JSON.stringify(json)}\n`, '--output')
    printResult(deps, json, `checkpoint ${size} of ${origin} is in transaction ${signature}`)
    return 0
  }
  return exitCodeOf(
    deps,
    () =>
      work().catch((error: unknown) => {
        if (!signal.aborted) throw error
        deps.stderr.write('stopped before the transaction was confirmed; it may still land\n')
        // The outcome is unknown, so the exit code lets a scheduler run the command again.
        return unavailableExitCode
      }),
    { refused: usageExitCode },
  )
}
