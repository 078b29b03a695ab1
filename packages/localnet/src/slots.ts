import { assert } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { sha256 } from '@tollbook/core/digest'

/** Commitments, weakest first. */
export const commitments = ['processed', 'confirmed', 'finalized'] as const
export type Commitment = (typeof commitments)[number]

/**
 * Number of slots that must follow a slot until it has the commitment. This chain has no votes. Instead, a slot is
 * final after 32 slots, and forks occur only on request.
 */
export const slotsUntil: Readonly<Record<Commitment, number>> = { processed: 0, confirmed: 1, finalized: 32 }

/** Default number of slots for which a blockhash is valid, as on a real cluster. */
const clusterBlockhashSlots = 150

/**
 * First slot of a new chain. At this slot, the SlotHashes sysvar is full and a finalized slot exists, so that clients
 * never meet the special cases of a new chain.
 */
export const firstSlot = 512

const slotHashesMax = 512

/** A part of the chain. After a dropped fork, a new salt ensures that the blockhashes of the dropped slots never recur. */
export interface Branch {
  readonly fromSlot: number
  readonly salt: Uint8Array
}

/**
 * A blockhash is a digest of the branch's salt and the slot, so hashes need no storage and survive a restart. Another
 * chain has other hashes, and thus refuses transactions that were signed for this chain.
 */
export class Slots {
  #current: number
  readonly #branches: Branch[]
  readonly #hashes = new Map<number, string>()
  readonly #slotsByHash = new Map<string, number>()
  readonly blockhashSlots: number

  constructor(current: number, branches: readonly Branch[], blockhashSlots = clusterBlockhashSlots) {
    assert(branches.length > 0 && current >= firstSlot, 'a chain has a first slot and a salt')
    assert(blockhashSlots < slotHashesMax, 'the hashes of the window are kept')
    this.blockhashSlots = blockhashSlots
    this.#current = current
    this.#branches = [...branches]
    this.#rememberWindow()
  }

  get current(): number {
    return this.#current
  }

  at(commitment: Commitment): number {
    return this.#current - slotsUntil[commitment]
  }

  advance(): void {
    this.#current += 1
    this.#remember(this.#current)
    this.#forget(this.#current - slotHashesMax - 1)
  }

  /** Makes `slot` the current slot again. The next slots have other hashes than the dropped slots. */
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

  /** False for a blockhash from a later slot, and for one that is too old. */
  isBlockhashValid(blockhash: string, atSlot: number): boolean {
    const slot = this.#slotsByHash.get(blockhash) ?? this.#searchBlockhash(blockhash, atSlot)
    return slot !== undefined && slot <= atSlot && slot + this.blockhashSlots >= atSlot
  }

  /** Returns the 512 slots before the current slot, newest first, for the SlotHashes sysvar. */
  slotHashes(): { readonly slot: number; readonly hash: string }[] {
    return Array.from({ length: slotHashesMax }, (_, age) => {
      const slot = this.#current - 1 - age
      return { slot, hash: this.blockhashOf(slot) }
    })
  }

  /**
   * Computes the hashes of older slots to find this one, for a node that is far behind, because old hashes are not
   * stored.
   */
  #searchBlockhash(blockhash: string, atSlot: number): number | undefined {
    const oldest = atSlot - this.blockhashSlots
    if (oldest >= this.#current - slotHashesMax) return undefined
    const slots = Array.from({ length: this.blockhashSlots + 1 }, (_, age) => atSlot - age)
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
    const slotBytes = Buffer.alloc(8)
    slotBytes.writeBigUInt64LE(BigInt(slot))
    return encodeBase58(sha256(Buffer.concat([branch.salt, slotBytes])))
  }
}
