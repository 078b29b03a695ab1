import { join } from 'node:path'
import type { KnownLedger } from '@tollbook/audit/auditCommand'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import { type Config, readConfig } from '../config.ts'
import { publicReceiptKey, receiptKeyBytes } from '../settings/receiptKeys.ts'
import type { CommandDeps } from './commandDeps.ts'
import { sampleDollar } from './local/sampleDollar.ts'
import { type LocalJson, readLocal } from './localJson.ts'

export interface Installation {
  readonly config: Config
  readonly local: LocalJson | undefined
}

export async function readInstallation(deps: Pick<CommandDeps, 'home'>): Promise<Installation> {
  return { config: readConfig(), local: await readLocal(deps) }
}

export function requireLogin(url: string | undefined, [variable, role]: readonly [string, string]): string {
  if (url !== undefined) return url
  throw new UsageProblem(variable, `is missing: a login that is a member of ${role}`)
}

/** Returns the configured chain, or else the chain of local mode. Undefined if there is neither. */
export function chainOf({ config: { chain, currencies }, local }: Installation) {
  const { accepted } = currencies
  if (chain !== undefined) return { ...chain, currencies: accepted }
  if (local === undefined) return undefined
  const { rpcUrl, tokenMint, paymentWallet } = local
  // Local mode accepts the sample dollar, unless the configuration has a dollar.
  return { rpcUrls: [rpcUrl], tokenMint, paymentWallet, currencies: accepted.length > 0 ? accepted : [sampleDollar] }
}

/**
 * Finds the ledger of `--database`, REPORTS_DATABASE_URL, DATABASE_URL or local mode, in this order. `missing` is the
 * option or variable that the message asks for. Facts about the service of this machine are added only for its own
 * database, because they would be wrong for another ledger.
 */
export async function findLedger(
  deps: Pick<CommandDeps, 'home'>,
  database?: string,
  missing = '--database',
): Promise<KnownLedger> {
  if (database !== undefined && !(/^postgres(?:ql)?:\/\//.test(database) && URL.canParse(database)))
    throw new UsageProblem('--database', 'must be a postgres:// URL')
  const { config, local } = await readInstallation(deps)
  const configured = [config.reportsDatabaseUrl, config.ledger?.databaseUrl]
  const databaseUrl = [database, ...configured, local?.databaseUrl].find((url) => url !== undefined)
  if (databaseUrl === undefined)
    throw new UsageProblem(missing, 'is missing: a postgres:// URL of a role that may read the ledger')
  const own = databaseUrl === local?.databaseUrl ? local : undefined
  if (own === undefined && !configured.includes(databaseUrl)) return { databaseUrl }
  const paymentWallet = config.chain?.paymentWallet ?? own?.paymentWallet
  const key = publicReceiptKey.safeParse(config.receiptSigningKey ?? own?.receiptKey).data
  return {
    databaseUrl,
    rpcUrl: config.chain?.rpcUrls[0] ?? own?.rpcUrl,
    paymentWallet,
    origin: config.seal.origin ?? (paymentWallet && `tollbook/${paymentWallet}`),
    publicKey: key && receiptKeyBytes(key),
    checkpointFile: config.seal.checkpointFile ?? (own && join(deps.home(), 'checkpoint')),
  }
}
