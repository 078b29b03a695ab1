import { join } from 'node:path'
import { z } from 'zod'
import { readConfig } from '../config.ts'
import { readLocalJson } from './localJson.ts'
import { UsageProblem } from './usageProblem.ts'

/** Address of a ledger, and the facts that this machine has about it. */
export interface BookPlace {
  readonly databaseUrl: string
  readonly rpcUrl: string | undefined
  readonly paymentWallet: string | undefined
  readonly origin: string | undefined
  /** 32 bytes, the key that signs receipts and checkpoints. */
  readonly publicKey: Buffer | undefined
  /** A checkpoint that is kept outside of the database. */
  readonly checkpointFile: string | undefined
}

const jwk = z.object({ x: z.base64url() })

/**
 * `--database` first, then DATABASE_URL, then local mode. What is known of the service of this machine is only said of its
 * own database: for another ledger it would be wrong.
 */
export async function findBook(home: string, database: string | undefined): Promise<BookPlace> {
  const config = readConfig()
  const local = await readLocalJson(join(home, 'local.json'))
  const databaseUrl = database ?? config.databaseUrl ?? local?.databaseUrl
  if (databaseUrl === undefined) {
    throw new UsageProblem('--database', 'is missing: a postgres:// URL of a role that may read the ledger')
  }
  const isLocal = databaseUrl === local?.databaseUrl
  const isOwn = isLocal || databaseUrl === config.databaseUrl
  if (!isOwn) return { databaseUrl, ...unknown }
  const paymentWallet = config.chain?.paymentWallet ?? (isLocal ? local.paymentWallet : undefined)
  const key = jwk.safeParse(config.receiptSigningKey ?? (isLocal ? local.receiptKey : undefined)).data
  return {
    databaseUrl,
    rpcUrl: config.chain?.rpcUrls[0] ?? (isLocal ? local.rpcUrl : undefined),
    paymentWallet,
    origin: config.ledgerOrigin ?? (paymentWallet === undefined ? undefined : `tollbook/${paymentWallet}`),
    publicKey: key === undefined ? undefined : Buffer.from(key.x, 'base64url'),
    checkpointFile: config.checkpointFile ?? (isLocal ? join(home, 'checkpoint') : undefined),
  }
}

const unknown = {
  rpcUrl: undefined,
  paymentWallet: undefined,
  origin: undefined,
  publicKey: undefined,
  checkpointFile: undefined,
} as const
