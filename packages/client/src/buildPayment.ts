import {
  createAssociatedTokenAccountIdempotentInstruction,
  createBurnCheckedInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import { PublicKey, type TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { Fault } from '@tollbook/core/fault'
import { type Signature, signatureOfBytes } from '@tollbook/core/signature'
import type { ProofForm } from './encodeProof.ts'
import type { PayerChain } from './payerChain.ts'
import type { PayerWallet } from './payerWallet.ts'
import { memoInstruction, nonceMemo } from './paymentMemo.ts'
import type { PaymentPlan } from './planPayment.ts'

export interface SignedPayment {
  readonly signature: Signature
  readonly transaction: Uint8Array
  /** After this block height it can no longer land. */
  readonly lastValidBlockHeight: number
}

export interface BuildDeps {
  readonly chain: Pick<PayerChain, 'latestBlockhash'>
  readonly wallet: PayerWallet
}

/** Builds and signs the one transaction that pays: memo, burn, transfer. Sends nothing. */
export async function buildPayment(
  { chain, wallet }: BuildDeps,
  plan: PaymentPlan,
  form: ProofForm,
): Promise<SignedPayment> {
  const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash()
  const payer = new PublicKey(wallet.address)
  const message = new TransactionMessage({
    payerKey: payer,
    recentBlockhash: blockhash,
    instructions: paymentInstructions(plan, payer, memoFor(plan, form)),
  }).compileToV0Message()
  const signed = await wallet.signTransaction(new VersionedTransaction(message))
  const signature = signatureOfBytes(signed.signatures[0] ?? new Uint8Array())
  if (signature === undefined)
    throw new Fault(`the wallet ${wallet.address} returned the transaction unsigned`, { retryable: false })
  return { signature, transaction: signed.serialize(), lastValidBlockHeight }
}

/** The quote's memo binds the payment to its secret. The plain forms must not have it, and need another in its place. */
function memoFor({ quote }: PaymentPlan, form: ProofForm): string {
  return form === 'bound' ? quote.memo : nonceMemo()
}

/** No compute budget: two token instructions, a memo and an account take a third of what a transaction has without asking. */
function paymentInstructions(plan: PaymentPlan, payer: PublicKey, memo: string): TransactionInstruction[] {
  const { quote, sentBaseUnits, createsTokenAccount } = plan
  const { burnBaseUnits, decimals } = quote
  const key = (address: string) => new PublicKey(address)
  const [mint, program] = [key(quote.mint), key(quote.tokenProgram)] as const
  const [paymentWallet, destination] = [key(quote.paymentWallet), key(quote.paymentTokenAccount)] as const
  const source = getAssociatedTokenAddressSync(mint, payer, true, program)
  // First, because a Token-2022 account that insists on memos wants to have seen it before the transfer.
  const instructions = [memoInstruction(memo)]
  if (createsTokenAccount) {
    instructions.push(
      createAssociatedTokenAccountIdempotentInstruction(payer, destination, paymentWallet, mint, program),
    )
  }
  instructions.push(createBurnCheckedInstruction(source, mint, payer, burnBaseUnits, decimals, [], program))
  // A price of one base unit is burned completely, which leaves nothing to transfer.
  if (sentBaseUnits > 0n) {
    instructions.push(
      createTransferCheckedInstruction(source, mint, destination, payer, sentBaseUnits, decimals, [], program),
    )
  }
  return instructions
}
