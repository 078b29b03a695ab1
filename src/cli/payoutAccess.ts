import type { Address } from '@tollbook/core/address'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import { parseShareWallets, readConfig } from '../config.ts'
import { silentLog } from '../machine/log.ts'
import { openPayout, type Payout } from '../payout/openPayout.ts'
import type { CommandDeps } from './commandDeps.ts'
import { chainOf, readInstallation, requireLogin } from './installation.ts'
import { interruptedExitCode, runWith } from './runCommand.ts'

export function runPayout(
  deps: CommandDeps,
  mint: () => Promise<string | undefined>,
  work: (payout: Payout) => Promise<void>,
): Promise<void> {
  return runWith(
    deps,
    async () => open(deps, await mint()),
    async (payout) => {
      try {
        await work(payout)
        return 0
      } catch (error) {
        if (!deps.interrupted.aborted) throw error
        deps.stderr.write('interrupted; run the command again to continue\n')
        return interruptedExitCode
      }
    },
  )
}

/** Opens payouts in a mint. Without `mint`, opens payouts in the service token. */
async function open(deps: CommandDeps, mint: string | undefined): Promise<Payout> {
  const installation = await readInstallation(deps)
  const { config, local } = installation
  const login = ['PAYOUT_DATABASE_URL', 'tollbook_payout'] as const
  const databaseUrl = requireLogin(config.payout.databaseUrl ?? local?.adminDatabaseUrl, login)
  const chain = chainOf(installation)
  if (chain === undefined)
    throw new UsageProblem('SOLANA_RPC_URLS', 'is missing, with TOKEN_MINT and PAYMENT_WALLET; or run local mode here')
  // List the node of local mode twice. A payout counts as failed only if two nodes agree, and the local node is the
  // chain itself.
  const rpcUrls = config.chain === undefined ? [...chain.rpcUrls, ...chain.rpcUrls] : chain.rpcUrls
  return openPayout({ ...chain, rpcUrls, mint, databaseUrl, clock: deps.clock, log: silentLog })
}

export function payoutWallets(flag: string | undefined): ReadonlyMap<string, Address> {
  const { wallets } = readConfig().payout
  if (flag === undefined) return wallets
  const given = parseShareWallets(flag)
  if (!given.ok) throw new UsageProblem('--wallets', given.problems.join('; '))
  return new Map([...wallets, ...given.value])
}
