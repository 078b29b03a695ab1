import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { errorCode, Fault } from '@tollbook/core/fault'
import { parseJson } from '@tollbook/core/json'
import { sampleModes } from '../config.ts'
import type { CommandDeps } from './commandDeps.ts'

/**
 * Facts of local mode that a payer needs, from `local.json`. A relative path is resolved against the folder of the
 * file.
 */
export type LocalJson = z.infer<typeof localJson>

const localJson = z.object({
  baseUrl: z.url(),
  rpcUrl: z.url(),
  databaseUrl: z.string().optional(),
  adminDatabaseUrl: z.string().optional(),
  tokenMint: z.string(),
  paymentWallet: z.string(),
  /** Address of the tab wallet. Absent in homes of earlier releases. */
  tabWallet: z.string().optional(),
  demoWallet: z.object({ address: z.string(), keypairPath: z.string() }).optional(),
  mintAuthorityKeypairPath: z.string().optional(),
  receiptKey: z.unknown().optional(),
  sampleUpstreams: z.object({ mode: z.enum(sampleModes), pageUrl: z.url() }).nullish(),
})

/** Reads the facts of local mode. Undefined if local mode has not run in this home. */
export function readLocal({ home }: Pick<CommandDeps, 'home'>): Promise<LocalJson | undefined> {
  return readLocalJson(join(home(), 'local.json'))
}

/** Reads the facts in a file. Undefined if the file does not exist. Throws a `Fault` if the file is damaged. */
export async function readLocalJson(path: string): Promise<LocalJson | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined
    throw new Fault(`${path} cannot be read`, { cause: error, retryable: false })
  })
  if (text === undefined) return undefined
  const { data, error } = localJson.safeParse(parseJson(text))
  if (data !== undefined) return withAbsolutePaths(data, dirname(path))
  const [issue] = error.issues
  const where = issue?.path.join('.') ?? ''
  throw new Fault(`${path} is damaged (${where}: ${issue?.message}); restart local mode, which writes it again`, {
    retryable: false,
  })
}

function withAbsolutePaths(local: LocalJson, folder: string): LocalJson {
  const { demoWallet, mintAuthorityKeypairPath: authority, ...rest } = local
  return {
    ...rest,
    ...(demoWallet && { demoWallet: { ...demoWallet, keypairPath: resolve(folder, demoWallet.keypairPath) } }),
    ...(authority && { mintAuthorityKeypairPath: resolve(folder, authority) }),
  }
}
