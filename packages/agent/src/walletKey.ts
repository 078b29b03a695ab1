import { generateKeyPairSync } from 'node:crypto'
import { z } from 'zod'
import { readKeypairFile } from '@tollbook/client/node'
import { type WalletFolder, writeIfAbsent } from './walletFolder.ts'

const jwk = z.object({ d: z.string(), x: z.string() })

/** Returns the address of the wallet. Makes its key if it does not exist, in the format of the Solana CLI. */
export async function readOrMakeKey({ key }: WalletFolder): Promise<string> {
  const { d, x } = jwk.parse(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))
  const bytes = Buffer.concat([d, x].map((part) => Buffer.from(part, 'base64url')))
  await writeIfAbsent(key, JSON.stringify([...bytes]))
  return (await readKeypairFile(key)).address
}
