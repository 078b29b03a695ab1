import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { PayerFault } from './errorCode.ts'
import { type Keypair, readSecretKey } from './solana/keypair.ts'

const secretKeyJson = z.array(z.int().min(0).max(255)).length(64)

/** Reads a keypair file of the Solana CLI: a JSON array of 64 bytes. Error messages never contain the file's content. */
export async function readKeypair(path: string): Promise<Keypair> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new PayerFault('KEYPAIR_UNREADABLE', `the keypair file ${path} cannot be read`, { cause, retryable: false })
  })
  try {
    return readSecretKey(Uint8Array.from(secretKeyJson.parse(JSON.parse(text))))
  } catch {
    // Omit the cause on purpose, because a JSON error quotes the text around it, which is the key.
    const expected = 'a JSON array of 64 bytes, as solana-keygen writes it'
    throw new PayerFault('KEYPAIR_UNREADABLE', `${path} is not a keypair file: expected ${expected}`, {
      retryable: false,
    })
  }
}
