import { VersionedTransaction } from '@solana/web3.js'
import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { decodeBase58, encodeBase58 } from '@tollbook/core/base58'
import { readSignature, type Signature } from '@tollbook/core/signature'
import {
  address,
  blockhashSlots,
  confirmationSlots,
  finalitySlots,
  firstSlot,
  type SimulatedChain,
  type SimulatedTransaction,
  tokenAccountOf,
} from './simulatedChain.ts'

/*
 * JSON-RPC of a node over the simulated chain, with the answers that Agave gives. A node knows the slots up to its own
 * and is right about them, unless it hides.
 */

/** Condition of one node. */
export interface NodeState {
  lagSlots: number
  /** Slot at which it stands still. */
  frozenAtSlot: number | undefined
  /** It denies every transaction. */
  hides: boolean
  /** It answers for another network. */
  isForeign: boolean
}

const request = z.object({ method: z.string(), params: z.array(z.unknown()) })
const commitmentOption = z.object({ commitment: z.enum(['processed', 'confirmed', 'finalized']).optional() })

interface View {
  readonly chain: SimulatedChain
  readonly state: NodeState
  readonly processedSlot: number
}

type Method = (view: View, params: readonly unknown[]) => Json

const genesisHash = encodeBase58(Buffer.alloc(32, 1))
const foreignGenesis = encodeBase58(Buffer.alloc(32, 2))

/** The answer to the body of a call. */
export function answerCall(chain: SimulatedChain, state: NodeState, body: string): Json {
  const { method, params } = request.parse(JSON.parse(body))
  const processedSlot = Math.min(chain.slot(), state.frozenAtSlot ?? Infinity) - state.lagSlots
  const known = methods[method]
  if (known === undefined) throw new Error(`the simulated node knows no ${method}`)
  const result = known({ chain, state, processedSlot }, params)
  return result !== null && typeof result === 'object' && 'error' in result ? result : { jsonrpc: '2.0', id: 1, result }
}

const depths = { processed: 0, confirmed: confirmationSlots, finalized: finalitySlots } as const

function slotAt({ processedSlot }: View, option: unknown): number {
  const { commitment = 'finalized' } = commitmentOption.parse(option ?? {})
  return processedSlot - depths[commitment]
}

/** Slot in which this node sees the transaction, at a commitment or better. */
function seenSlot({ chain, state, processedSlot }: View, signature: Signature, atSlot: number): number | undefined {
  const slot = state.hides ? undefined : chain.landedSlot(signature, processedSlot)
  return slot === undefined || slot > atSlot ? undefined : slot
}

const signatureText = z.string().transform((text) => readSignature(text))
const insufficientFunds: Json = { InstructionError: [0, { Custom: 1 }] }

const methods: Readonly<Record<string, Method>> = {
  getGenesisHash: ({ state }) => (state.isForeign ? foreignGenesis : genesisHash),
  getEpochInfo(view, [option]) {
    const slot = slotAt(view, option)
    return { absoluteSlot: slot, blockHeight: slot }
  },
  getSlot: (view, [option]) => slotAt(view, option),
  getBlockTime: ({ chain }, [slot]) => Math.floor(chain.blockTimeMs(z.int().parse(slot)) / 1000),
  getFirstAvailableBlock: () => firstSlot,
  isBlockhashValid(view, [hash, option]) {
    const slot = slotAt(view, option)
    return { context: { slot }, value: isValid(z.string().parse(hash), slot) }
  },
  getSignatureStatuses(view, [signatures]) {
    const value = z
      .array(signatureText)
      .parse(signatures)
      .map((signature) => (signature === undefined ? null : statusOf(view, signature)))
    return { context: { slot: view.processedSlot }, value }
  },
  getTransaction(view, [text, option]) {
    const signature = signatureText.parse(text)
    if (signature === undefined) return null
    const slot = seenSlot(view, signature, slotAt(view, option))
    const transaction = view.chain.transaction(signature)
    return slot === undefined || transaction === undefined ? null : transactionJson(view.chain, transaction, slot)
  },
  simulateTransaction: simulateTransaction,
  sendTransaction({ chain }, [base64]) {
    const signature = signatureOfBase64(base64)
    if (signature !== undefined) chain.send(signature)
    return signature ?? ''
  },
  getTokenAccountsByOwner({ chain, processedSlot }, [owner]) {
    const isPoor = chain.transactions().some(({ wallet, fails }) => wallet === owner && fails)
    const amount = Buffer.alloc(8)
    amount.writeBigUInt64LE(isPoor ? 0n : walletBaseUnits)
    const account = { account: { data: [amount.toString('base64'), 'base64'] } }
    return { context: { slot: processedSlot - confirmationSlots }, value: [account] }
  },
  getSignaturesForAddress: listSignatures,
}

const walletBaseUnits = 1_000_000_000_000n

function isValid(blockhash: string, atSlot: number): boolean {
  const bytes = decodeBase58(blockhash, 32)
  const slot = bytes === undefined ? Infinity : Buffer.from(bytes).readUInt32BE(0)
  return slot <= atSlot && atSlot - slot <= blockhashSlots
}

function statusOf(view: View, signature: Signature): Json {
  const { chain, processedSlot } = view
  const slot = seenSlot(view, signature, processedSlot)
  if (slot === undefined) return null
  const isFinal = slot <= processedSlot - finalitySlots
  const confirmationStatus = isFinal
    ? 'finalized'
    : slot <= processedSlot - confirmationSlots
      ? 'confirmed'
      : 'processed'
  return { slot, err: chain.transaction(signature)?.fails === true ? insufficientFunds : null, confirmationStatus }
}

function signatureOfBase64(base64: unknown): Signature | undefined {
  const { signatures } = VersionedTransaction.deserialize(Buffer.from(z.string().parse(base64), 'base64'))
  return readSignature(encodeBase58(signatures[0] ?? new Uint8Array()))
}

const minSlotOption = z.object({ minContextSlot: z.int().default(0) })

function simulateTransaction(view: View, [base64, option]: readonly unknown[]): Json {
  const { chain, processedSlot } = view
  const slot = processedSlot - confirmationSlots
  if (minSlotOption.parse(option).minContextSlot > slot)
    return { error: { code: -32016, message: 'Minimum context slot has not been reached' } }
  const signature = signatureOfBase64(base64)
  const transaction = signature === undefined ? undefined : chain.transaction(signature)
  const failed = (err: Json): Json => ({ context: { slot }, value: { err } })
  if (transaction === undefined || !isValid(transaction.blockhash, slot)) return failed('BlockhashNotFound')
  if (seenSlot(view, transaction.signature, processedSlot) !== undefined) return failed('AlreadyProcessed')
  if (transaction.fails) return failed(insufficientFunds)
  const balances = balancesOf(chain, transaction)
  return { context: { slot }, value: { err: null, innerInstructions: [], ...balances } }
}

function transactionJson(chain: SimulatedChain, transaction: SimulatedTransaction, slot: number): Json {
  const { message, signatures } = VersionedTransaction.deserialize(transaction.bytes)
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header
  return {
    slot,
    blockTime: Math.floor(chain.blockTimeMs(slot) / 1000),
    version: 'legacy',
    transaction: {
      signatures: signatures.map(encodeBase58),
      message: {
        header: { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts },
        accountKeys: message.staticAccountKeys.map(address),
        recentBlockhash: message.recentBlockhash,
        instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
          programIdIndex,
          accounts: accountKeyIndexes,
          data: encodeBase58(data),
        })),
      },
    },
    meta: {
      err: transaction.fails ? insufficientFunds : null,
      innerInstructions: [],
      loadedAddresses: { writable: [], readonly: [] },
      ...balancesOf(chain, transaction),
    },
  }
}

function balancesOf({ terms }: SimulatedChain, transaction: SimulatedTransaction) {
  const { wallet, burnBaseUnits, transferBaseUnits, fails, bytes } = transaction
  const keys = VersionedTransaction.deserialize(bytes).message.staticAccountKeys.map(address)
  const balance = (account: string, owner: string, amount: bigint) => ({
    accountIndex: keys.findIndex((key) => key === account),
    mint: terms.mint,
    owner,
    uiTokenAmount: { amount: amount.toString() },
  })
  const source = tokenAccountOf(terms.mint, wallet)
  const sent = fails ? 0n : burnBaseUnits + transferBaseUnits
  const pre = [balance(source, wallet, walletBaseUnits), balance(terms.paymentTokenAccount, terms.paymentWallet, 0n)]
  const post = [
    balance(source, wallet, walletBaseUnits - sent),
    balance(terms.paymentTokenAccount, terms.paymentWallet, fails ? 0n : transferBaseUnits),
  ]
  return { preTokenBalances: pre, postTokenBalances: post }
}

const listOptions = commitmentOption.extend({
  limit: z.int(),
  before: z.string().optional(),
  until: z.string().optional(),
})

function listSignatures(view: View, [, option]: readonly unknown[]): Json {
  const { chain } = view
  const { limit, before, until } = listOptions.parse(option)
  const atSlot = slotAt(view, option)
  const listed = chain
    .transactions()
    .flatMap(({ signature, memo, fails }) => {
      const slot = seenSlot(view, signature, atSlot)
      if (slot === undefined) return []
      const blockTime = Math.floor(chain.blockTimeMs(slot) / 1000)
      return [{ signature, slot, err: fails ? insufficientFunds : null, memo: memo ?? null, blockTime }]
    })
    .toSorted((one, other) => other.slot - one.slot || (other.signature < one.signature ? -1 : 1))
  const from = before === undefined ? 0 : listed.findIndex(({ signature }) => signature === before) + 1
  const end = until === undefined ? -1 : listed.findIndex(({ signature }) => signature === until)
  return listed.slice(from, end === -1 ? undefined : end).slice(0, limit)
}
