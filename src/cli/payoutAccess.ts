import { type Config, parseShareWallets, readConfig } from '../config.ts'
import { openPayout, type Payout } from '../payout/openPayout.ts'
import type { Address } from '@tollbook/core/address'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../machine/log.ts'
import type { CommandDeps } from './commandDeps.ts'
import { type LocalJson, readLocal } from './localJson.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

/**
 * Opens the database and the chain of the environment, or those of local mode. `mint` is the one that is paid;
 * undefined for the service token.
 */
export async function openPayoutAccess(deps: CommandDeps, mint: string | undefined): Promise<Payout> {
  const config = readConfig()
  const local = await readLocal(deps)
  const databaseUrl = config.payout.databaseUrl ?? local?.adminDatabaseUrl ?? undefined
  if (databaseUrl === undefined)
    throw new UsageProblem('PAYOUT_DATABASE_URL', 'is missing: a login that is a member of tollbook_payout')
  const chain = chainOf(config, local)
  return openPayout({ ...chain, mint, databaseUrl, clock: deps.clock ?? systemClock, log: silentLog })
}

function chainOf(config: Config, local: LocalJson | undefined) {
  const currencies = config.currencies.accepted
  if (config.chain !== undefined) return { ...config.chain, currencies }
  if (local?.rpcUrl === undefined)
    throw new UsageProblem('SOLANA_RPC_URLS', 'is missing, with TOKEN_MINT and PAYMENT_WALLET; or run local mode here')
  // A payout counts as failed only if two nodes agree. The node of local mode is the chain itself, so it is listed
  // twice.
  return {
    rpcUrls: [local.rpcUrl, local.rpcUrl],
    tokenMint: local.tokenMint,
    paymentWallet: local.paymentWallet,
    currencies,
  }
}

/** Wallet of each share. `--wallets` takes precedence over PAYOUT_WALLETS. */
export function payoutWallets(flag: string | undefined): ReadonlyMap<string, Address> {
  const { wallets } = readConfig().payout
  if (flag === undefined) return wallets
  const given = parseShareWallets(flag)
  if (!given.ok) throw new UsageProblem('--wallets', given.problems.join('; '))
  return new Map([...wallets, ...given.value])
}
