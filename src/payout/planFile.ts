import { readFile } from 'node:fs/promises'
import { type PayoutPlan, payoutPlanJson, readPayoutPlan } from '../accounting/payoutPlan.ts'
import { type Address, readAddress } from '@tollbook/core/address'
import { readSignature, type Signature } from '@tollbook/core/signature'
import { Fault } from '@tollbook/core/fault'

/** The text of a plan file. `readPlanFile` rejects it when a character of the content was changed. */
export function planText(plan: PayoutPlan): string {
  return `${JSON.stringify(payoutPlanJson(plan), null, 2)}\n`
}

/** Throws a `Fault` unless the digest in the plan's id fits its content. */
export async function readPlanFile(path: string): Promise<PayoutPlan> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Fault(`the plan ${path} cannot be read`, { cause, retryable: false })
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

/** Throws a `Fault` that names the option. */
export function addressIn(option: string, text: string): Address {
  const address = readAddress(text)
  if (address === undefined) throw new Fault(`${option}: ${text} is not a Solana address`, { retryable: false })
  return address
}

export function signatureIn(text: string): Signature {
  const signature = readSignature(text)
  if (signature === undefined) throw new Fault(`${text} is not a signature`, { retryable: false })
  return signature
}
