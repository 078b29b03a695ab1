import { Fault } from '@tollbook/core/fault'
import { randomToken } from '@tollbook/core/id'
import type { Signature } from '@tollbook/core/signature'
import type { ProofForm } from './encodeProof.ts'
import type { PayerChain } from './payerChain.ts'
import type { PayerWallet } from './payerWallet.ts'
import type { PaymentPlan } from './planPayment.ts'
import { associatedTokenAccount } from './solana/programAddress.ts'
import {
  burnChecked,
  createTokenAccount,
  type Instruction,
  memoInstruction,
  transferChecked,
} from './solana/instructions.ts'
import { buildTransaction, feePayerSignature, type signatureOf } from './solana/transaction.ts'

export interface SignedPayment {
  readonly signature: Signature
  readonly transaction: Uint8Array
  /** Block height after which the transaction can no longer land. */
  readonly lastValidBlockHeight: number
}

export interface BuildDeps {
  readonly chain: Pick<PayerChain, 'latestBlockhash'>
  readonly wallet: PayerWallet
}

/** Puts burn, memo and transfer into one transaction, so that a payment without its burn cannot land. Does not send it. */
export async function buildPayment(
  { chain, wallet }: BuildDeps,
  plan: PaymentPlan,
  form: ProofForm,
): Promise<SignedPayment> {
  const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash()
  const feePayer = wallet.address
  const instructions = paymentInstructions(plan, feePayer, memoFor(plan, form))
  const unsigned = buildTransaction({ feePayer, blockhash, instructions })
  const signed = await signWith(wallet, unsigned, feePayerSignature)
  return { ...signed, lastValidBlockHeight }
}

export async function signWith(wallet: PayerWallet, unsigned: Uint8Array, findSignature: typeof signatureOf) {
  const transaction = await wallet.signTransaction(unsigned)
  const signature = findSignature(transaction, wallet.address)
  if (signature === undefined)
    throw new Fault(`the wallet ${wallet.address} returned the transaction unsigned, or signed with another key`, {
      retryable: false,
    })
  return { signature, transaction }
}

/**
 * Returns the memo of the quote in bound form, which binds the payment to the quote's secret. Other forms have a random
 * memo.
 */
function memoFor({ quote }: PaymentPlan, form: ProofForm): string {
  return form === 'bound' ? quote.memo : nonceMemo()
}

/** Returns a random memo. Without it, two equal payments with the same blockhash would be one transaction. */
export function nonceMemo(): string {
  return `nonce:${randomToken()}`
}

/** Sets no compute budget, because the default limit is enough for these instructions. */
export function paymentInstructions(plan: PaymentPlan, payer: string, memo: string): Instruction[] {
  const { quote, sentBaseUnits, createsTokenAccount } = plan
  const { paymentWallet, paymentTokenAccount, burnBaseUnits } = quote
  const account = associatedTokenAccount({ ...quote, wallet: payer })
  const instructions: Instruction[] = []
  if (createsTokenAccount)
    instructions.push(createTokenAccount(payer, paymentTokenAccount, { ...quote, wallet: paymentWallet }))
  const amount = (baseUnits: bigint) => ({ account, authority: payer, baseUnits })
  // Put the memo directly in front of the transfer: a Token-2022 account may require a memo there.
  instructions.push(burnChecked(quote, amount(burnBaseUnits)), memoInstruction(memo))
  // Omit the transfer if the burn takes the whole price.
  if (sentBaseUnits > 0n) instructions.push(transferChecked(quote, amount(sentBaseUnits), paymentTokenAccount))
  return instructions
}
