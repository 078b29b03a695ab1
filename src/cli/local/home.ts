import { readFile, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { z } from 'zod'
import { makeFolder } from '@tollbook/client/makeFolder'
import { newSecretKey } from '@tollbook/client/solana/keypair'
import { Bug } from '@tollbook/core/assert'
import { toBase64Url } from '@tollbook/core/bytes'
import { errorCode, Fault } from '@tollbook/core/fault'
import { randomToken } from '@tollbook/core/id'

export type Home = Awaited<ReturnType<typeof openHome>>

export type ReceiptKey = z.infer<typeof receiptKeyJson>

const keypairJson = z
  .array(z.int().min(0).max(255))
  .length(64)
  .transform((bytes) => Keypair.fromSecretKey(Uint8Array.from(bytes)))
const receiptKeyJson = z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), d: z.string() })

/** Mode of the home folder. A Postgres that runs as another user may enter the folder and find its files. */
export const enterableFolder = 0o711
// Modes of keys. Other users of the machine must not read them, although they control only demonstration money.
const privateFolder = 0o700
const privateFile = 0o600

/**
 * Opens the home folder. Each key is created on first use and read afterwards, so that a later start has the same
 * wallets.
 */
export async function openHome(folder: string) {
  const path = resolve(folder)
  const keys = join(path, 'keys')
  await openFolder(path, enterableFolder)
  await openFolder(keys, privateFolder)
  return {
    path,
    async keypair(name: string) {
      const file = join(keys, `${name}.json`)
      const text = await readOrMake(file, () => JSON.stringify([...newSecretKey()]))
      return { path: file, keypair: parse(file, text, keypairJson) }
    },
    secret: (name: string) => readOrMake(join(keys, `${name}.secret`), randomToken),
    receiptKey: () => signingKey(keys, 'receipt-key'),
    signingKey: (name: string) => signingKey(keys, name),
    async writeLocalJson(content: object) {
      const file = join(path, 'local.json')
      // Write under another name and rename, so that a reader never sees an incomplete file.
      await writeFile(`${file}.tmp`, `${JSON.stringify(content, null, 2)}\n`, { mode: privateFile })
      await rename(`${file}.tmp`, file)
      return file
    },
  }
}

export async function openFolder(path: string, mode: number): Promise<void> {
  await makeFolder(path, mode).catch((error: unknown) => {
    const code = errorCode(error)
    const shown = code === undefined ? '' : ` (${code})`
    throw new Fault(`${path} cannot be created${shown}: set TOLLBOOK_HOME to a folder that can be written`, {
      cause: error,
      retryable: false,
    })
  })
}

async function signingKey(keys: string, name: string): Promise<ReceiptKey> {
  const file = join(keys, `${name}.json`)
  return parse(file, await readOrMake(file, () => JSON.stringify(makeReceiptKey())), receiptKeyJson)
}

// Maximum number of tries. Each key is rejected with a probability of 1 in 64.
const triesMax = 100

/**
 * Generates a key whose public part does not start with a hyphen. `tollbook key rotate` takes the public part as an
 * argument, and would read a leading hyphen as an option.
 */
export function makeReceiptKey(): ReceiptKey {
  for (let tries = 1; tries <= triesMax; tries++) {
    const secretKey = newSecretKey()
    const x = toBase64Url(secretKey.subarray(32))
    if (!x.startsWith('-')) return { kty: 'OKP', crv: 'Ed25519', x, d: toBase64Url(secretKey.subarray(0, 32)) }
  }
  throw new Bug(`one of ${triesMax} keys does not start with a hyphen`)
}

async function readOrMake(file: string, make: () => string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    const content = make()
    // `wx` fails if another start has created the file meanwhile, so that no start replaces a key in use.
    await writeFile(file, content, { mode: privateFile, flag: 'wx' })
    return content
  }
}

function parse<T>(file: string, text: string, json: z.ZodType<T>): T {
  try {
    return json.parse(JSON.parse(text))
  } catch {
    // Omit the cause, because the message of a JSON error quotes the key.
    throw new Fault(`${file} is damaged; restore it, or remove the whole folder to start over`, { retryable: false })
  }
}
