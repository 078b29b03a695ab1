import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { toBase64Url } from '@tollbook/core/bytes'
import { type Ed25519Signer, ed25519Signer } from '@tollbook/core/ed25519'
import { Fault } from '@tollbook/core/fault'

const secretKeyBytes = 64
const keypairJson = z.array(z.int().min(0).max(255)).length(secretKeyBytes)

/** A keypair file of the Solana CLI: 32 bytes of the private key, then 32 of the public key. */
export async function readSigningKey(variable: string, path: string): Promise<Ed25519Signer> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Fault(`${variable} ${path} cannot be read`, { cause, retryable: false })
  })
  const bytes = Uint8Array.from(parseKeypair(`${variable} ${path}`, text))
  const [d, x] = [bytes.subarray(0, secretKeyBytes / 2), bytes.subarray(secretKeyBytes / 2)].map(toBase64Url)
  return ed25519Signer({ kty: 'OKP', crv: 'Ed25519', d: d ?? '', x: x ?? '' })
}

function parseKeypair(file: string, text: string): readonly number[] {
  try {
    return keypairJson.parse(JSON.parse(text))
  } catch {
    // The cause is left out on purpose: a JSON error quotes the text around it, which is the key.
    throw new Fault(`${file} is not a keypair file: expected a JSON array of 64 bytes`, { retryable: false })
  }
}

/** Variables that this command cannot do without. The fault names all that are missing. */
export function requireVariables<Name extends string>(
  command: string,
  values: Readonly<Record<Name, string | undefined>>,
): Readonly<Record<Name, string>> {
  if (areSet(values)) return values
  const missing = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [name] : []))
  const are = missing.length === 1 ? 'is' : 'are'
  throw new Fault(`${missing.join(', ')} ${are} missing: tollbook ${command} --help has the list`, { retryable: false })
}

function areSet<Name extends string>(
  values: Readonly<Record<Name, string | undefined>>,
): values is Readonly<Record<Name, string>> {
  return Object.values(values).every((value) => value !== undefined)
}
