import { Command } from 'commander'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { burnUntilStopped } from '../burn/burnLoop.ts'
import type { BurnOutcome } from '../burn/burnRound.ts'
import { type Burner, openBurner } from '../burn/openBurner.ts'
import { readConfig } from '../config.ts'
import { createLog, type Log } from '../machine/log.ts'
import type { CommandDeps } from './commandDeps.ts'
import { readDuration } from './duration.ts'
import { exitCodeOf, refusedExitCode, unavailableExitCode } from './runCommand.ts'
import { readSigningKey, requireVariables } from './signingKey.ts'
import { closeWhenStopped, endWithParent } from './closeWhenStopped.ts'

const help = `
Configured by environment: BURN_DATABASE_URL, BURN_KEYPAIR, SOLANA_RPC_URLS, TOKEN_MINT and PAYMENT_WALLET;
 docs/burn.md explains them, and how the payment wallet approves the delegate.

Exit codes of --once:
  0  burned and confirmed, or no final payment owes a burn
  4  refused: the message says why; or the round failed on chain, and the next run repeats it
  7  the database or the Solana node does not answer, or the chain has not decided yet; run it again`

interface BurnFlags {
  readonly once?: boolean
  readonly every: string
  readonly untilStdinEnds?: boolean
}

/**
 * The burner is a separate process, because the service parses what strangers send and must not hold a key that burns
 * (decision 0032).
 */
export function burnCommand(deps: CommandDeps): Command {
  return new Command('burn')
    .description(
      'burn the owed tokens of payments by x402, MPP and tabs out of the payment wallet, as its delegate; runs until stopped',
    )
    .option('--once', 'complete the open round or burn the owed tokens now, print the outcome as JSON, and exit')
    .option('--every <duration>', 'time between rounds', '1h')
    .option('--until-stdin-ends', 'stop when stdin ends, so that the job ends with the process that started it')
    .addHelpText('after', help)
    .action(async (flags: BurnFlags) => {
      const config = readConfig()
      // Log to stderr, because with --once stdout has only the outcome as JSON.
      const log = createLog({ level: config.logLevel, name: 'tollbook burn', destination: process.stderr })
      const code = flags.once === true ? await runOnce(deps, log) : await runUntilStopped(log, flags)
      process.exit(code)
    })
}

const interval = { minMs: 1_000, maxMs: 86_400_000 }

async function open(log: Log): Promise<Burner> {
  const { burn, chain } = readConfig()
  const { BURN_DATABASE_URL: databaseUrl, BURN_KEYPAIR: keypairFile } = requireVariables('burn', {
    BURN_DATABASE_URL: burn.databaseUrl,
    BURN_KEYPAIR: burn.keypairFile,
    SOLANA_RPC_URLS: chain?.rpcUrls[0],
  })
  const key = await readSigningKey('BURN_KEYPAIR', keypairFile)
  return openBurner({ ...assertPresent(chain, 'it has a node'), databaseUrl, key, clock: systemClock, log })
}

async function runUntilStopped(log: Log, flags: BurnFlags): Promise<number> {
  const everyMs = readDuration('--every', flags.every, interval)
  const burner = await open(log)
  process.stdout.write(`burning as ${burner.delegate}\n`)
  const stopping = new AbortController()
  const running = burnUntilStopped({ burner, clock: systemClock, log, everyMs }, stopping.signal)
  await closeWhenStopped({
    ...endWithParent(flags.untilStdinEnds === true, log),
    async close() {
      stopping.abort()
      await running
      await burner.close()
    },
  })
  return 0
}

function runOnce(deps: CommandDeps, log: Log): Promise<number> {
  return exitCodeOf(deps, async () => {
    const burner = await open(log)
    try {
      const outcome = await burner.burnOnce(deps.interrupted)
      deps.stdout.write(`${JSON.stringify(outcome, (_, value: unknown) => shown(value))}\n`)
      return exitCodes[outcome.outcome]
    } finally {
      await burner.close()
    }
  })
}

/** Returns a value for JSON. Amounts become text, because JSON has no bigint. */
function shown(value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

// `overtaken` and `waiting` may end by themselves, so their exit code lets a scheduler run the command again.
const exitCodes: Readonly<Record<BurnOutcome['outcome'], number>> = {
  nothing_owed: 0,
  confirmed: 0,
  failed: refusedExitCode,
  overtaken: unavailableExitCode,
  waiting: unavailableExitCode,
}
