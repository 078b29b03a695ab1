import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { Fault } from '@tollbook/core/fault'
import { parseJson } from '@tollbook/core/json'
import { sampleModes } from '../config.ts'
import type { CommandDeps } from './commandDeps.ts'

/** Facts of local mode that a payer needs. Paths are absolute after reading. */
export type LocalJson = z.infer<typeof localJson>

const localJson = z.object({
  baseUrl: z.url(),
  rpcUrl: z.url().optional(),
  databaseUrl: z.string().optional(),
  /** Null if the database is the operator's. */
  adminDatabaseUrl: z.string().nullish(),
  tokenMint: z.string(),
  paymentWallet: z.string(),
  /** Missing in homes of earlier releases, and where no tabs are sold. */
  tabWallet: z.string().optional(),
  demoWallet: z.object({ address: z.string(), keypairPath: z.string() }).optional(),
  mintAuthorityKeypairPath: z.string().optional(),
  receiptKey: z.unknown().optional(),
  /** Null if the operator's identity provider decides who may read the finance reports. */
  financeToken: z.string().nullish(),
  /** Null without samples. `pageUrl` is a sample page for screenshots. */
  sampleUpstreams: z.object({ mode: z.enum(sampleModes), pageUrl: z.url() }).nullish(),
})

/** Reads the facts of local mode in this home. Undefined if local mode has not run there. */
export function readLocal({ home }: Pick<CommandDeps, 'home'>): Promise<LocalJson | undefined> {
  return readLocalJson(join(home(), 'local.json'))
}

/** Returns undefined if the file does not exist: local mode has not run here, so every option must be given. */
export async function readLocalJson(path: string): Promise<LocalJson | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Fault(`${path} cannot be read`, { cause: error, retryable: false })
  })
  if (text === undefined) return undefined
  const parsed = localJson.safeParse(parseJson(text))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const where = issue?.path.join('.') ?? ''
    throw new Fault(`${path} is damaged (${where}: ${issue?.message}); restart local mode, which writes it again`, {
      retryable: false,
    })
  }
  return withAbsolutePaths(parsed.data, dirname(path))
}

function withAbsolutePaths(local: LocalJson, folder: string): LocalJson {
  const { demoWallet, mintAuthorityKeypairPath, ...rest } = local
  return {
    ...rest,
    ...(demoWallet === undefined
      ? {}
      : { demoWallet: { ...demoWallet, keypairPath: resolve(folder, demoWallet.keypairPath) } }),
    ...(mintAuthorityKeypairPath === undefined
      ? {}
      : { mintAuthorityKeypairPath: resolve(folder, mintAuthorityKeypairPath) }),
  }
}
