import { type Keypair, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { type Checkpoint } from '@tollbook/core/checkpoint'
import { encodeBase64 } from '@tollbook/core/base64'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { type Signature, signatureOfBytes } from '@tollbook/core/signature'
import { landTransaction } from './landTransaction.ts'
import { connectPayerChain } from './payerChain.ts'
import { memoInstruction } from './paymentMemo.ts'
import type { Fetch } from './solanaRpc.ts'

export interface AnchorDeps {
  readonly rpcUrl: string
  /** Pays the fee and signs the memo. A separate key: it holds a little SOL and no tokens. */
  readonly keypair: Keypair
  readonly signal: AbortSignal
  readonly fetch?: Fetch
  readonly clock?: Clock
}

export interface Anchor {
  readonly signature: Signature
  readonly memo: string
}

// The memo program takes 566 bytes; an origin has 200 characters at most.
const memoBytesMax = 566

/**
 * Content of the memo on chain: enough to find the checkpoint again, and to detect that others were shown a different
 * one.
 */
function anchorMemo({ origin, size, root }: Checkpoint): string {
  return `tollbook-checkpoint ${origin} ${size} ${encodeBase64(root)}`
}

/** Writes a checkpoint permanently into a memo on chain and waits for its confirmation. */
export async function anchorCheckpoint(deps: AnchorDeps, checkpoint: Checkpoint): Promise<Anchor> {
  const { rpcUrl, keypair, signal, fetch = globalThis.fetch, clock = systemClock } = deps
  const memo = anchorMemo(checkpoint)
  if (Buffer.byteLength(memo) > memoBytesMax)
    throw new Fault(`the origin ${checkpoint.origin} is too long for a memo`, { retryable: false })
  const chain = connectPayerChain({ rpcUrl, fetch })
  const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash()
  const message = new TransactionMessage({
    payerKey: new PublicKey(keypair.publicKey),
    recentBlockhash: blockhash,
    instructions: [memoInstruction(memo)],
  }).compileToV0Message()
  const transaction = new VersionedTransaction(message)
  transaction.sign([keypair])
  const signature = assertPresent(signatureOfBytes(transaction.signatures[0] ?? new Uint8Array()), 'it is signed')
  const landing = await landTransaction(
    { chain, clock, signal },
    { signature, transaction: transaction.serialize(), lastValidBlockHeight, sentBefore: false },
  )
  if (landing.outcome === 'confirmed') return { signature, memo }
  const why = landing.outcome === 'rejected' ? landing.why : `its transaction ${signature} has ${landing.outcome}`
  throw new Fault(`the checkpoint was not anchored: ${why}`, { retryable: landing.outcome === 'expired' })
}
