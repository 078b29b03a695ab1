import { assertPresent } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import {
  createBurnCheckedInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token'
import { Keypair, PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { encodeBase58 } from '@tollbook/core/base58'
import { readAddress } from '@tollbook/core/address'
import { memoPrograms } from '@tollbook/core/programs'
import { type Signature, signatureOfBytes } from '@tollbook/core/signature'
import type { PaymentTerms } from '../../src/payment/settlement.ts'
import type { Chance, VirtualTime } from './virtualTime.ts'
import type { Weather } from './weather.ts'

/*
 * The chain itself, without nodes: which transaction is in which slot, and since when. `simulatedRpc.ts` adds what a
 * node makes of it.
 */

const slotMs = 400
/** A blockhash is good for 150 blocks. */
export const blockhashSlots = 150
export const confirmationSlots = 2
export const finalitySlots = 32
/** A slot that the chain had reached before a run starts: nodes know the history behind it. */
export const firstSlot = 1_000

/** A wallet's order to burn and to transfer. */
export interface PaymentParts {
  readonly burnBaseUnits: bigint
  readonly transferBaseUnits: bigint
  readonly memo: string | undefined
  /** The wallet holds too little: it lands and fails. */
  readonly fails: boolean
}

export interface SimulatedTransaction extends PaymentParts {
  readonly signature: Signature
  readonly wallet: Address
  readonly lastValidSlot: number
  readonly blockhash: string
  readonly bytes: Uint8Array
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
  sign(payer: Keypair, parts: PaymentParts): SimulatedTransaction
  transaction(signature: Signature): SimulatedTransaction | undefined
  /** Sends it to the leader. Sending it again is harmless. */
  send(signature: Signature): void
  /** Slot of the transaction in the view of a node that stands at that slot. */
  landedSlot(signature: Signature, atSlot: number): number | undefined
  /** Slot in which it stays permanently, as far as it is decided. */
  finalSlot(signature: Signature): number | undefined
  /** All signed transactions, in the order of signing. */
  transactions(): readonly SimulatedTransaction[]
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
    sign(payer, parts) {
      // A payer's node is a little behind, too.
      const hashSlot = slot() - chance.number(5)
      const transaction = signTransaction(payer, parts, { terms, hashSlot })
      traced.set(transaction.signature, { transaction, landings: [] })
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
  }
}

function newTerms(chance: Chance): PaymentTerms {
  const [mint, paymentWallet] = [newAddress(chance), newAddress(chance)]
  return {
    mint,
    decimals: 6,
    tokenProgram: address(TOKEN_PROGRAM_ID),
    paymentWallet,
    paymentTokenAccount: tokenAccountOf(mint, paymentWallet),
    network: 'solana:simulation',
  }
}

export function newAddress(chance: Chance): Address {
  return assertPresent(readAddress(encodeBase58(chance.bytes(32))), '32 bytes are an address')
}

export function newPayer(chance: Chance): Keypair {
  return Keypair.fromSeed(chance.bytes(32))
}

export function address(key: PublicKey): Address {
  return assertPresent(readAddress(key.toBase58()), 'a public key is an address')
}

export function tokenAccountOf(mint: Address, owner: Address): Address {
  return address(getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(owner), true))
}

/** The blockhash of a slot: its number, so that a node can tell how old it is. */
function blockhashOf(slot: number): string {
  const bytes = Buffer.alloc(32, 7)
  bytes.writeUInt32BE(slot)
  return encodeBase58(bytes)
}

interface Signing {
  readonly terms: PaymentTerms
  readonly hashSlot: number
}

function signTransaction(payer: Keypair, parts: PaymentParts, { terms, hashSlot }: Signing): SimulatedTransaction {
  const { mint, paymentTokenAccount, decimals } = terms
  const wallet = address(payer.publicKey)
  const source = new PublicKey(tokenAccountOf(mint, wallet))
  const [mintKey, destination] = [new PublicKey(mint), new PublicKey(paymentTokenAccount)]
  const [memoProgram] = memoPrograms
  const instructions = [
    createBurnCheckedInstruction(source, mintKey, payer.publicKey, parts.burnBaseUnits, decimals),
    createTransferCheckedInstruction(source, mintKey, destination, payer.publicKey, parts.transferBaseUnits, decimals),
  ]
  if (parts.memo !== undefined) {
    const programId = new PublicKey(assertPresent(memoProgram, 'there is a memo program'))
    instructions.push(new TransactionInstruction({ keys: [], programId, data: Buffer.from(parts.memo, 'utf8') }))
  }
  const blockhash = blockhashOf(hashSlot)
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions })
  const transaction = new VersionedTransaction(message.compileToLegacyMessage())
  transaction.sign([payer])
  const signature = signatureOfBytes(assertPresent(transaction.signatures[0], 'it is signed'))
  return {
    ...parts,
    signature: assertPresent(signature, 'a signature has 64 bytes'),
    wallet,
    lastValidSlot: hashSlot + blockhashSlots,
    blockhash,
    bytes: transaction.serialize(),
  }
}
