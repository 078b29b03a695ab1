import { readFile } from 'node:fs/promises'
import { readKeypair } from '@tollbook/client/keypairFile'
import { type Address, readAddress } from '@tollbook/core/address'
import { errorText, Fault } from '@tollbook/core/fault'
import { readSignature, type Signature } from '@tollbook/core/signature'
import { parsePlan } from '../payout/planText.ts'
import { UsageProblem } from './usageProblem.ts'

/* Files, addresses and signatures that the user of `tollbook payout` names. A `UsageProblem` begins with the option. */

/** Throws a `Fault` when the file was read and is not a plan, or was changed. */
export async function readPlanFile(option: string, path: string): Promise<ReturnType<typeof parsePlan>> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new UsageProblem(option, `the file ${path} cannot be read`)
  })
  return parsePlan(path, text)
}

export async function keypairIn(option: string, path: string): ReturnType<typeof readKeypair> {
  return readKeypair(path).catch((error: unknown) => {
    throw error instanceof Fault ? new UsageProblem(option, errorText(error)) : error
  })
}

export function addressIn(option: string, text: string): Address {
  const address = readAddress(text)
  if (address === undefined) throw new UsageProblem(option, `${text} is not a Solana address`)
  return address
}

/** A number of token accounts that may be opened. */
export function accountsIn(option: string, text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new UsageProblem(option, `must be a whole number up to 9999 (got ${text})`)
  return Number(text)
}

export function signatureIn(option: string, text: string): Signature {
  const signature = readSignature(text)
  if (signature === undefined) throw new UsageProblem(option, `${text} is not a signature`)
  return signature
}
