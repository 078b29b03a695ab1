import { readKeypair } from '@tollbook/client/keypairFile'
import type { Ed25519Signer } from '@tollbook/core/ed25519'
import { errorText, Fault } from '@tollbook/core/fault'

/** `variable` is the environment variable that messages mention. */
export async function readSigningKey(variable: string, path: string): Promise<Ed25519Signer> {
  return readKeypair(path).catch((error: unknown) => {
    throw error instanceof Fault ? new Fault(`${variable}: ${errorText(error)}`, { retryable: false }) : error
  })
}

/** Throws a `Fault` with the names of all missing variables, so that one attempt shows them all. */
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
