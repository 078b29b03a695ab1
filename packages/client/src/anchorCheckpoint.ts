import { type Checkpoint } from '@tollbook/core/checkpoint'
import { encodeBase64 } from '@tollbook/core/base64'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import type { Signature } from '@tollbook/core/signature'
import { utf8Bytes } from '@tollbook/core/bytes'
import { defaultFetch } from './defaultFetch.ts'
import { landTransaction } from './landTransaction.ts'
import { connectPayerChain } from './payerChain.ts'
import type { Keypair } from './solana/keypair.ts'
import { memoInstruction } from './solana/instructions.ts'
import { buildTransaction, feePayerSignature, signTransaction } from './solana/transaction.ts'
import type { Fetch } from './solanaRpc.ts'

export interface AnchorDeps {
  readonly rpcUrl: string
  /** Key that pays the fee and signs the transaction. It needs some SOL and no tokens, so do not use the key of a payer. */
  readonly keypair: Keypair
  readonly signal: AbortSignal
  readonly fetch?: Fetch
  readonly clock?: Clock
}

export interface Anchor {
  readonly signature: Signature
  readonly memo: string
}

// Maximum bytes of a memo, by the documentation of SPL Memo.
const memoBytesMax = 566

/** Returns the memo. It shows a reader of the chain if another reader was given a different checkpoint. */
function anchorMemo({ origin, size, root }: Checkpoint): string {
  return `tollbook-checkpoint ${origin} ${size} ${encodeBase64(root)}`
}

/**
 * Writes the checkpoint on chain as a memo, and resolves after confirmation. The log cannot withdraw the checkpoint
 * later, because a memo on chain is permanent.
 */
export async function anchorCheckpoint(deps: AnchorDeps, checkpoint: Checkpoint): Promise<Anchor> {
  const { rpcUrl, keypair, signal, fetch = defaultFetch, clock = systemClock } = deps
  const memo = anchorMemo(checkpoint)
  if (utf8Bytes(memo).length > memoBytesMax)
    throw new Fault(`the origin ${checkpoint.origin} is too long for a memo`, { retryable: false })
  const chain = connectPayerChain({ rpcUrl, fetch })
  const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash()
  const { address: feePayer } = keypair
  const unsigned = buildTransaction({ feePayer, blockhash, instructions: [memoInstruction(memo)] })
  const transaction = signTransaction(unsigned, [keypair])
  const signature = assertPresent(feePayerSignature(transaction, feePayer), 'it is signed')
  const landing = await landTransaction(
    { chain, clock, signal },
    { signature, transaction, lastValidBlockHeight, sentBefore: false },
  )
  if (landing.outcome === 'confirmed') return { signature, memo }
  const why = landing.outcome === 'rejected' ? landing.why : `its transaction ${signature} has ${landing.outcome}`
  throw new Fault(`the checkpoint was not anchored: ${why}`, { retryable: true })
}
