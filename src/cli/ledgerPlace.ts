import { join } from 'node:path'
import { z } from 'zod'
import { readConfig } from '../config.ts'
import { readLocalJson } from './localJson.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

/** Database of a ledger, with the facts that this machine has about the ledger. */
export interface LedgerPlace {
  readonly databaseUrl: string
  readonly rpcUrl: string | undefined
  readonly paymentWallet: string | undefined
  readonly origin: string | undefined
  /** Public key of receipts and checkpoints, 32 bytes. */
  readonly publicKey: Buffer | undefined
  /** File outside the database that contains the newest checkpoint. */
  readonly checkpointFile: string | undefined
}

const jwk = z.object({ x: z.base64url() })

/**
 * Uses `--database`, REPORTS_DATABASE_URL, DATABASE_URL or local mode, in this order. Adds the facts of this machine's
 * service only to its own database, because they would be wrong for another ledger.
 */
export async function findLedger(home: string, database: string | undefined): Promise<LedgerPlace> {
  if (database !== undefined && !/^postgres(?:ql)?:\/\//.test(database))
    throw new UsageProblem('--database', 'must be a postgres:// URL')
  const config = readConfig()
  const local = await readLocalJson(join(home, 'local.json'))
  const { ledger, reportsDatabaseUrl } = config
  const databaseUrl = database ?? reportsDatabaseUrl ?? ledger?.databaseUrl ?? local?.databaseUrl
  if (databaseUrl === undefined) {
    throw new UsageProblem('--database', 'is missing: a postgres:// URL of a role that may read the ledger')
  }
  const isLocal = databaseUrl === local?.databaseUrl
  const isOwn = isLocal || databaseUrl === ledger?.databaseUrl || databaseUrl === reportsDatabaseUrl
  if (!isOwn) return { databaseUrl, ...unknown }
  const paymentWallet = config.chain?.paymentWallet ?? (isLocal ? local.paymentWallet : undefined)
  const key = jwk.safeParse(config.receiptSigningKey ?? (isLocal ? local.receiptKey : undefined)).data
  return {
    databaseUrl,
    rpcUrl: config.chain?.rpcUrls[0] ?? (isLocal ? local.rpcUrl : undefined),
    paymentWallet,
    origin: config.seal.origin ?? (paymentWallet === undefined ? undefined : `tollbook/${paymentWallet}`),
    publicKey: key === undefined ? undefined : Buffer.from(key.x, 'base64url'),
    checkpointFile: config.seal.checkpointFile ?? (isLocal ? join(home, 'checkpoint') : undefined),
  }
}

const unknown = {
  rpcUrl: undefined,
  paymentWallet: undefined,
  origin: undefined,
  publicKey: undefined,
  checkpointFile: undefined,
} as const
