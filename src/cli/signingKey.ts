import { UsageProblem } from '@tollbook/client/command/usageProblem'
import { readKeypair } from '@tollbook/client/keypairFile'
import type { Keypair } from '@tollbook/client/solana/keypair'
import { errorText, Fault } from '@tollbook/core/fault'

/**
 * Reads a signing key. `option` is the option or variable that names the file. An unreadable keypair is wrong usage,
 * and not a refusal.
 */
export async function readSigningKey(option: string, path: string): Promise<Keypair> {
  return readKeypair(path).catch((error: unknown) => {
    throw error instanceof Fault ? new UsageProblem(option, errorText(error)) : error
  })
}

/**
 * Returns the variables if all are set. Otherwise throws a `UsageProblem` with the names of all missing ones, so that
 * one attempt shows them all.
 */
export function requireVariables<Name extends string>(
  command: string,
  values: Readonly<Record<Name, string | undefined>>,
): Readonly<Record<Name, string>> {
  if (areSet(values)) return values
  const missing = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [name] : []))
  const are = missing.length === 1 ? 'is' : 'are'
  throw new UsageProblem(missing.join(', '), `${are} missing; tollbook ${command} --help has the list`)
}

function areSet<Name extends string>(
  values: Readonly<Record<Name, string | undefined>>,
): values is Readonly<Record<Name, string>> {
  return Object.values(values).every((value) => value !== undefined)
}
