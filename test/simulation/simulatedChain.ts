import { assertPresent } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import { encodeBase58 } from '@tollbook/core/base58'
import { readAddress } from '@tollbook/core/address'
import { type Signature, signatureOfBytes } from '@tollbook/core/signature'
import type { PaymentTerms } from '../../src/payment/settlement.ts'
import type { TransactionRecord } from '../../src/payment/transactionRecord.ts'
import type { Chance, VirtualTime } from './virtualTime.ts'
import type { Weather } from './weather.ts'

/*
 * The chain itself, without nodes: which transaction is in which slot, and since when. `simulatedNodes.ts` adds what a
 * node makes of it.
 */

export const slotMs = 400
/** A blockhash is good for 150 blocks. */
export const blockhashSlots = 150
export const confirmationSlots = 2
export const finalitySlots = 32
/** A slot that the chain had reached before a run starts: nodes know the history behind it. */
export const firstSlot = 1_000

export interface SimulatedTransaction {
  readonly signature: Signature
  readonly wallet: Address
  readonly burnBaseUnits: bigint
  readonly transferBaseUnits: bigint
  readonly memo: string | undefined
  readonly lastValidSlot: number
  /** The wallet holds too little: it lands and fails. */
  readonly fails: boolean
}

/** A transaction in a slot, on one fork. */
interface Landing {
  readonly slot: number
  /** Slot at which its fork lost; undefined for the fork that stays. */
  readonly droppedAtSlot: number | undefined
}

export interface SimulatedChain {
  readonly terms: PaymentTerms
  /** Faults of transactions from now on. */
  setWeather(weather: Weather): void
  slot(): number
  blockTimeMs(slot: number): number
  /** Signs a transaction; it is not sent. */
  sign(parts: Omit<SimulatedTransaction, 'signature' | 'lastValidSlot'>): SimulatedTransaction
  transaction(signature: Signature): SimulatedTransaction | undefined
  /** Sends it to the leader. Sending it again is harmless. */
  send(signature: Signature): void
  /** Slot of the transaction as somebody sees it who stands at that slot. */
  landedSlot(signature: Signature, atSlot: number): number | undefined
  /** Slot in which it stays for ever, as far as it is decided. */
  finalSlot(signature: Signature): number | undefined
  /** All signed transactions, in the order of signing. */
  transactions(): readonly SimulatedTransaction[]
  record(signature: Signature, slot: number): TransactionRecord
}

export interface ChainOptions {
  readonly time: VirtualTime
  readonly chance: Chance
  readonly epochMs: number
}

interface Traced {
  readonly transaction: SimulatedTransaction
  landings: readonly Landing[]
}

export function createSimulatedChain({ time, chance, epochMs }: ChainOptions): SimulatedChain {
  const traced = new Map<Signature, Traced>()
  const terms = newTerms(chance)
  const slot = () => firstSlot + Math.floor(time.nowMs() / slotMs)
  const blockTimeMs = (at: number) => epochMs + Math.floor(((at - firstSlot) * slotMs) / 1000) * 1000
  let weather: Weather | undefined

  function land(one: Traced, fromSlot: number, isForked: boolean): void {
    if (fromSlot > one.transaction.lastValidSlot) return
    if (!isForked) {
      one.landings = [...one.landings, { slot: fromSlot, droppedAtSlot: undefined }]
      return
    }
    const droppedAtSlot = fromSlot + chance.between(1, finalitySlots - 2)
    one.landings = [...one.landings, { slot: fromSlot, droppedAtSlot }]
    // The fork that stays may take it as well, as long as its blockhash is good.
    if (chance.happens(0.5)) land(one, droppedAtSlot + chance.between(1, 20), false)
  }

  return {
    terms,
    setWeather(next) {
      weather = next
    },
    slot,
    blockTimeMs,
    sign(parts) {
      const signature = assertPresent(signatureOfBytes(chance.bytes(64)), 'random bytes are a signature')
      const transaction = { ...parts, signature, lastValidSlot: slot() + blockhashSlots }
      traced.set(signature, { transaction, landings: [] })
      return transaction
    },
    transaction: (signature) => traced.get(signature)?.transaction,
    send(signature) {
      const one = assertPresent(traced.get(signature), 'a transaction is signed before it is sent')
      const now = slot()
      if (
        one.landings.some(
          ({ slot: at, droppedAtSlot }) => droppedAtSlot === undefined || droppedAtSlot > now || at > now,
        )
      )
        return
      if (weather !== undefined && chance.happens(weather.transactionLost)) return
      const isLate = weather !== undefined && chance.happens(weather.transactionLate)
      const isForked = weather !== undefined && chance.happens(weather.transactionForked)
      land(one, now + (isLate ? chance.between(20, blockhashSlots) : chance.between(1, 5)), isForked)
    },
    landedSlot(signature, atSlot) {
      const seen = traced
        .get(signature)
        ?.landings.find((landing) => landing.slot <= atSlot && (landing.droppedAtSlot ?? Infinity) > atSlot)
      return seen?.slot
    },
    finalSlot: (signature) =>
      traced.get(signature)?.landings.find(({ droppedAtSlot }) => droppedAtSlot === undefined)?.slot,
    transactions: () => [...traced.values()].map(({ transaction }) => transaction),
    record(signature, at) {
      const transaction = assertPresent(traced.get(signature), 'a record is of a signed transaction').transaction
      return recordOf(transaction, { terms, slot: at, blockTimeMs: blockTimeMs(at) })
    },
  }
}

function newTerms(chance: Chance): PaymentTerms {
  return {
    mint: newAddress(chance),
    decimals: 6,
    tokenProgram: newAddress(chance),
    paymentWallet: newAddress(chance),
    paymentTokenAccount: newAddress(chance),
    network: 'solana:simulation',
  }
}

export function newAddress(chance: Chance): Address {
  return assertPresent(readAddress(encodeBase58(chance.bytes(32))), '32 bytes are an address')
}

interface Place {
  readonly terms: PaymentTerms
  readonly slot: number
  readonly blockTimeMs: number
}

const walletBalance = 10n ** 15n

function recordOf(transaction: SimulatedTransaction, { terms, slot, blockTimeMs }: Place): TransactionRecord {
  const { signature, wallet, burnBaseUnits, transferBaseUnits, memo, fails } = transaction
  const { mint, tokenProgram, paymentTokenAccount, paymentWallet } = terms
  const base = { tokenProgram, mint, authority: wallet, source: wallet }
  const sent = burnBaseUnits + transferBaseUnits
  return {
    signature,
    slot,
    blockTimeMs,
    failure: fails ? { text: 'insufficient funds', insufficientFunds: true } : undefined,
    signers: [wallet],
    movements: fails
      ? []
      : [
          { ...base, kind: 'burn', amountBaseUnits: burnBaseUnits },
          { ...base, kind: 'transfer', destination: paymentTokenAccount, amountBaseUnits: transferBaseUnits },
        ],
    balances: fails
      ? []
      : [
          {
            tokenAccount: wallet,
            mint,
            ownersSeen: [wallet],
            beforeBaseUnits: walletBalance,
            afterBaseUnits: walletBalance - sent,
          },
          {
            tokenAccount: paymentTokenAccount,
            mint,
            ownersSeen: [paymentWallet],
            beforeBaseUnits: 0n,
            afterBaseUnits: transferBaseUnits,
          },
        ],
    memos: memo === undefined ? [] : [memo],
    bytes: undefined,
  }
}
