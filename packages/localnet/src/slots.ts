import { assert } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { sha256 } from '@tollbook/core/digest'
import { ByteWriter } from './byteWriter.ts'

/** Weakest first. */
export const commitments = ['processed', 'confirmed', 'finalized'] as const
export type Commitment = (typeof commitments)[number]

/**
 * Number of slots that must follow. A real cluster votes; 32 is the equivalent of its votes, and forks only occur on
 * request here.
 */
export const slotsUntil: Readonly<Record<Commitment, number>> = { processed: 0, confirmed: 1, finalized: 32 }

/** A transaction may name the blockhash of any of the last 150 slots, as on a real cluster. */
export const blockhashWindowSlots = 150

/**
 * The first slot of a new chain. Not 0, so that the SlotHashes sysvar is full (512 entries) and the finalized slot is a
 * real one from the start: a client never meets the special cases of a chain's first seconds.
 */
export const firstSlot = 512

const slotHashesMax = 512

/** From this slot on, blockhashes are drawn with this salt. A dropped fork's hashes must never come again. */
export interface Branch {
  readonly fromSlot: number
  readonly salt: Uint8Array
}

/**
 * The line of slots and their blockhashes. A blockhash is a digest of the branch's salt and the slot, so no hash has to
 * be stored, and after a restart all of them are what they were. Another chain has another salt and so other hashes:
 * a transaction signed for one chain is refused by every other.
 */
export class Slots {
  #current: number
  readonly #branches: Branch[]
  readonly #hashes = new Map<number, string>()
  readonly #slotsByHash = new Map<string, number>()

  constructor(current: number, branches: readonly Branch[]) {
    assert(branches.length > 0 && current >= firstSlot, 'a chain has a first slot and a salt')
    this.#current = current
    this.#branches = [...branches]
    this.#rememberWindow()
  }

  get current(): number {
    return this.#current
  }

  get branches(): readonly Branch[] {
    return this.#branches
  }

  /** The newest slot that has the commitment. */
  at(commitment: Commitment): number {
    return this.#current - slotsUntil[commitment]
  }

  commitmentOf(slot: number): Commitment {
    if (slot <= this.at('finalized')) return 'finalized'
    return slot <= this.at('confirmed') ? 'confirmed' : 'processed'
  }

  advance(): void {
    this.#current += 1
    this.#remember(this.#current)
    this.#forget(this.#current - slotHashesMax - 1)
  }

  /** Goes back; what was after the slot is gone, and the slots to come have other hashes than the dropped ones. */
  branchAt(slot: number, salt: Uint8Array): void {
    assert(slot <= this.#current, 'a fork starts at a slot that was reached')
    for (let dropped = slot + 1; dropped <= this.#current; dropped++) this.#forget(dropped)
    this.#current = slot
    this.#branches.push({ fromSlot: slot + 1, salt })
    this.#rememberWindow()
  }

  blockhashOf(slot: number): string {
    return this.#hashes.get(slot) ?? this.#draw(slot)
  }

  /** Whether a transaction may name the hash in that slot: not one of a later slot, and not one that is too old. */
  isBlockhashValid(blockhash: string, atSlot: number): boolean {
    const slot = this.#slotsByHash.get(blockhash) ?? this.#searchBlockhash(blockhash, atSlot)
    return slot !== undefined && slot <= atSlot && slot + blockhashWindowSlots >= atSlot
  }

  /** For the SlotHashes sysvar: the slots before the current one, newest first. */
  slotHashes(): { readonly slot: number; readonly hash: string }[] {
    return Array.from({ length: slotHashesMax }, (_, age) => {
      const slot = this.#current - 1 - age
      return { slot, hash: this.blockhashOf(slot) }
    })
  }

  /** For a node that is far behind: hashes older than the window are not stored, and drawing one takes 5 µs. */
  #searchBlockhash(blockhash: string, atSlot: number): number | undefined {
    const oldest = atSlot - blockhashWindowSlots
    if (oldest >= this.#current - slotHashesMax) return undefined
    const slots = Array.from({ length: blockhashWindowSlots + 1 }, (_, age) => atSlot - age)
    return slots.find((slot) => this.#draw(slot) === blockhash)
  }

  #rememberWindow(): void {
    for (let age = slotHashesMax; age >= 0; age--) this.#remember(this.#current - age)
  }

  #remember(slot: number): void {
    const hash = this.#draw(slot)
    this.#hashes.set(slot, hash)
    this.#slotsByHash.set(hash, slot)
  }

  #forget(slot: number): void {
    const hash = this.#hashes.get(slot)
    if (hash === undefined) return
    this.#hashes.delete(slot)
    this.#slotsByHash.delete(hash)
  }

  #draw(slot: number): string {
    const branch = this.#branches.findLast(({ fromSlot }) => fromSlot <= slot)
    assert(branch !== undefined, 'the first branch starts before all slots')
    return encodeBase58(sha256(new ByteWriter().raw(branch.salt).u64(BigInt(slot)).finish()))
  }
}
