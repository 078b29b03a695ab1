import { type Address, readAddress } from '@tollbook/core/address'
import { readSignature, type Signature } from '@tollbook/core/signature'
import { parsePlan } from '../payout/planText.ts'
import { readTextFile } from '@tollbook/client/command/fileOption'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import { readSigningKey } from './signingKey.ts'

/*
 * Reads the files, addresses and signatures in the arguments of `tollbook payout`. The message of a `UsageProblem`
 * begins with the name of the option.
 */

/** Throws a `Fault` if the file is not a plan or was changed. */
export async function readPlanFile(option: string, path: string): Promise<ReturnType<typeof parsePlan>> {
  return parsePlan(path, await readTextFile(option, path))
}

export async function mintOfPlan(option: string, path: string): Promise<string> {
  return (await readPlanFile(option, path)).mint
}

/**
 * Reads the keys that sign. The fee payer signs first, because Solana takes the first signer of a transaction as its
 * fee payer.
 */
export async function payoutKeysIn(
  paymentWallet: Address,
  { keypair, feePayer: other }: { readonly keypair: string; readonly feePayer?: string | undefined },
) {
  const wallet = await readSigningKey('--keypair', keypair)
  if (wallet.address !== paymentWallet)
    throw new UsageProblem('--keypair', `is not the payment wallet ${paymentWallet}`)
  if (other === undefined) return { feePayer: wallet, signers: [wallet] }
  const feePayer = await readSigningKey('--fee-payer', other)
  return { feePayer, signers: [feePayer, wallet] }
}

export function addressIn(option: string, text: string): Address {
  const address = readAddress(text)
  if (address === undefined) throw new UsageProblem(option, `${text} is not a Solana address`)
  return address
}

export function accountsIn(option: string, text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new UsageProblem(option, `must be a whole number up to 9999 (got ${text})`)
  return Number(text)
}

export function signatureIn(option: string, text: string): Signature {
  const signature = readSignature(text)
  if (signature === undefined) throw new UsageProblem(option, `${text} is not a signature`)
  return signature
}
