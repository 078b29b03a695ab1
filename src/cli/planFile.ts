import { readFile } from 'node:fs/promises'
import { readKeypair } from '@tollbook/client/keypairFile'
import { type PayoutPlan, payoutPlanJson, readPayoutPlan } from '../accounting/payoutPlan.ts'
import { type Address, readAddress } from '@tollbook/core/address'
import { readSignature, type Signature } from '@tollbook/core/signature'
import { errorText, Fault } from '@tollbook/core/fault'
import { UsageProblem } from './usageProblem.ts'

/** The text of a plan file. `readPlanFile` rejects it when a character of the content was changed. */
export function planText(plan: PayoutPlan): string {
  return `${JSON.stringify(payoutPlanJson(plan), null, 2)}\n`
}

/** A file that cannot be read is a usage problem of the option. Throws a `Fault` unless the digest in the plan's id fits its content. */
export async function readPlanFile(option: string, path: string): Promise<PayoutPlan> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new UsageProblem(option, `the file ${path} cannot be read`)
  })
  const plan = readPayoutPlan(parseJson(text))
  if (plan !== undefined) return plan
  throw new Fault(`${path} is not a plan written by \`tollbook payout plan\`, or it was changed`, {
    retryable: false,
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: the schema says so.
    return undefined
  }
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

export function signatureIn(option: string, text: string): Signature {
  const signature = readSignature(text)
  if (signature === undefined) throw new UsageProblem(option, `${text} is not a signature`)
  return signature
}
