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

/** A signed payment that was not sent. */
export interface SignedPayment {
  readonly signature: Signature
  readonly transaction: Uint8Array
  /** The transaction cannot land after this block height. */
  readonly lastValidBlockHeight: number
}

export interface BuildDeps {
  readonly chain: Pick<PayerChain, 'latestBlockhash'>
  readonly wallet: PayerWallet
}

/** Builds and signs the one transaction that pays: burn, memo, transfer. Sends nothing. */
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

/** Lets the wallet sign. Throws a fault unless its signature is where it has to be. */
export async function signWith(wallet: PayerWallet, unsigned: Uint8Array, findSignature: typeof signatureOf) {
  const transaction = await wallet.signTransaction(unsigned)
  const signature = findSignature(transaction, wallet.address)
  if (signature === undefined)
    throw new Fault(`the wallet ${wallet.address} returned the transaction unsigned, or signed with another key`, {
      retryable: false,
    })
  return { signature, transaction }
}

/** The quote's memo binds the payment to its secret. The plain forms must not carry it, so they get a random memo. */
function memoFor({ quote }: PaymentPlan, form: ProofForm): string {
  return form === 'bound' ? quote.memo : nonceMemo()
}

/** A random memo. Two equal transactions with one blockhash would otherwise be identical and count once. */
export function nonceMemo(): string {
  return `nonce:${randomToken()}`
}

/** Sets no compute budget: two token instructions, a memo and an account need a third of the default limit. */
export function paymentInstructions(plan: PaymentPlan, payer: string, memo: string): Instruction[] {
  const { quote, sentBaseUnits, createsTokenAccount } = plan
  const { paymentWallet, paymentTokenAccount, burnBaseUnits } = quote
  const account = associatedTokenAccount({ ...quote, wallet: payer })
  const instructions: Instruction[] = []
  if (createsTokenAccount)
    instructions.push(createTokenAccount(payer, paymentTokenAccount, { ...quote, wallet: paymentWallet }))
  const amount = (baseUnits: bigint) => ({ account, authority: payer, baseUnits })
  // A Token-2022 account may require a memo directly in front of each transfer to it.
  instructions.push(burnChecked(quote, amount(burnBaseUnits)), memoInstruction(memo))
  // A price of one base unit is burned completely, which leaves nothing to transfer.
  if (sentBaseUnits > 0n) instructions.push(transferChecked(quote, amount(sentBaseUnits), paymentTokenAccount))
  return instructions
}
