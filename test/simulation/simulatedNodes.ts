import { assertPresent } from '@tollbook/core/assert'
import { refuseProof } from '@tollbook/core/refusal'
import { signatureOfBytes } from '@tollbook/core/signature'
import type { ChainReader } from '../../src/payment/chainReader.ts'
import { type FinalityReader, listedMax } from '../../src/payment/finalityReader.ts'
import type { SignedTransaction, Simulation } from '../../src/payment/proof.ts'
import { confirmationSlots, finalitySlots, firstSlot, type SimulatedChain } from './simulatedChain.ts'
import type { Carry } from './simulatedNetwork.ts'

export interface NodeDeps {
  readonly chain: SimulatedChain
  readonly carry: Carry
  /** Slots by which the node that answers is behind. */
  readonly lagSlots: () => number
}

/** What a node answers that is behind by some slots. It is never wrong about the slots that it knows. */
export function createSimulatedNode({ chain, carry, lagSlots }: NodeDeps): ChainReader & FinalityReader {
  const { record, landedSlot } = chain
  const processed = () => chain.slot() - lagSlots()
  const seen = (signature: SignedTransaction['signature'], depth: number) => {
    const atSlot = processed()
    const slot = landedSlot(signature, atSlot)
    return slot !== undefined && slot <= atSlot - depth ? slot : undefined
  }
  const isExpired = (transaction: SignedTransaction) => processed() - confirmationSlots > Number(transaction.blockhash)
  return {
    findTransaction: (signature) =>
      carry(() => {
        const slot = seen(signature, confirmationSlots)
        return slot === undefined ? undefined : record(signature, slot)
      }),
    balanceBaseUnits: (wallet) =>
      carry(() => (chain.transactions().some((one) => one.wallet === wallet && one.fails) ? 0n : 10n ** 15n)),
    readTransaction: (bytes) => readTransaction(chain, bytes),
    simulate: (transaction) => carry(() => simulate(chain, transaction, isExpired(transaction))),
    broadcast: (transaction) => carry(() => chain.send(transaction.signature)),
    canStillLand: (transaction) => carry(() => !isExpired(transaction)),
    slot: () => carry(() => processed() - confirmationSlots),
    findStatuses: ({ signatures }) =>
      carry(() => ({
        slot: processed(),
        statuses: signatures.map((signature) => {
          const slot = seen(signature, 0)
          if (slot === undefined) return undefined
          const isFinalized = seen(signature, finalitySlots) !== undefined
          return { slot, isFinalized, hasFailed: record(signature, slot).failure !== undefined }
        }),
      })),
    firstSlot: () => carry(() => firstSlot),
    finalizedSlot: () => carry(() => processed() - finalitySlots),
    findFinalized: (signature) =>
      carry(() => {
        const slot = seen(signature, finalitySlots)
        return slot === undefined ? undefined : record(signature, slot)
      }),
    listSignatures: ({ before, until, commitment }) =>
      carry(() => {
        const depth = commitment === 'finalized' ? finalitySlots : confirmationSlots
        const listed = chain
          .transactions()
          .flatMap(({ signature, memo, fails }) => {
            const slot = seen(signature, depth)
            if (slot === undefined) return []
            return [{ signature, slot, blockTimeMs: chain.blockTimeMs(slot), hasFailed: fails, memo }]
          })
          .toSorted((one, other) => other.slot - one.slot || (other.signature < one.signature ? -1 : 1))
        const from = before === undefined ? 0 : listed.findIndex(({ signature }) => signature === before) + 1
        const end = until === undefined ? -1 : listed.findIndex(({ signature }) => signature === until)
        return listed.slice(from, end === -1 ? undefined : end).slice(0, listedMax)
      }),
  }
}

/** First byte of a simulated transaction: neither an opening brace nor a base58 character. */
const transactionMark = 1

/** A simulated transaction as bytes: a mark and its signature. */
export function bytesOfTransaction(signature: Uint8Array): Uint8Array {
  return Uint8Array.of(transactionMark, ...signature)
}

function readTransaction(chain: SimulatedChain, bytes: Uint8Array): ReturnType<ChainReader['readTransaction']> {
  const signature = bytes[0] === transactionMark ? signatureOfBytes(bytes.subarray(1)) : undefined
  const found = signature === undefined ? undefined : chain.transaction(signature)
  if (found === undefined) return refuseProof('signature_invalid')
  return {
    signature: found.signature,
    bytes,
    signers: [found.wallet],
    blockhash: String(found.lastValidSlot),
    usesDurableNonce: false,
  }
}

function simulate(chain: SimulatedChain, { signature }: SignedTransaction, isExpired: boolean): Simulation {
  const transaction = assertPresent(chain.transaction(signature), 'it was read before')
  if (chain.landedSlot(signature, chain.slot()) !== undefined) return { outcome: 'already_landed' }
  if (isExpired) return { outcome: 'blockhash_expired' }
  if (transaction.fails) return { outcome: 'would_fail', text: 'insufficient funds', insufficientFunds: true }
  const { movements, memos, balances } = chain.record(signature, chain.slot())
  return { outcome: 'would_succeed', effects: { movements, memos, balances } }
}
