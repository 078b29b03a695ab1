import { type Config, readConfig } from '../config.ts'
import { openDiagnosis, type OpenDiagnosis } from '../diagnosis/openDiagnosis.ts'
import { silentLog } from '../machine/log.ts'
import type { CommandDeps } from './commandDeps.ts'
import { sampleDollar } from './local/sampleDollar.ts'
import { type LocalJson, readLocal } from './localJson.ts'
import { runWith } from './runCommand.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

/** Opens the ledger and the chain for one command, from the environment or local mode. Sets the exit code. */
export function withDiagnosis(
  deps: CommandDeps,
  login: 'reader' | 'finance',
  work: (diagnosis: OpenDiagnosis) => Promise<number>,
): Promise<void> {
  return runWith(deps, async () => openDiagnosis(await optionsOf(deps, login)), work)
}

async function optionsOf(deps: CommandDeps, login: 'reader' | 'finance') {
  const config = readConfig()
  const local = await readLocal(deps)
  return {
    databaseUrl: login === 'finance' ? financeUrl(config, local) : readerUrl(config, local),
    chain: chainOf(config, local),
    limits: config.refunds.limits,
    log: silentLog,
    ...(deps.clock === undefined ? {} : { clock: deps.clock }),
  }
}

function readerUrl({ ledger }: Config, local: LocalJson | undefined): string {
  const databaseUrl = ledger?.databaseUrl ?? local?.databaseUrl
  if (databaseUrl === undefined) throw new UsageProblem('DATABASE_URL', 'is missing, and local mode does not run here')
  return databaseUrl
}

function financeUrl({ refunds }: Config, local: LocalJson | undefined): string {
  const databaseUrl = refunds.databaseUrl ?? local?.adminDatabaseUrl ?? undefined
  if (databaseUrl === undefined)
    throw new UsageProblem('FINANCE_DATABASE_URL', 'is missing: a login that is a member of tollbook_finance')
  return databaseUrl
}

function chainOf({ chain, currencies }: Config, local: LocalJson | undefined) {
  if (chain !== undefined) return { ...chain, currencies: currencies.accepted }
  if (local?.rpcUrl === undefined) return undefined
  const { rpcUrl, tokenMint, paymentWallet } = local
  // Only the chain of local mode itself has the sample dollar. Local mode may also run on another chain.
  const sampled = local.mintAuthorityKeypairPath === undefined ? [] : [sampleDollar]
  const accepted = currencies.accepted.length > 0 ? currencies.accepted : sampled
  return { rpcUrls: [rpcUrl], tokenMint, paymentWallet, currencies: accepted }
}
