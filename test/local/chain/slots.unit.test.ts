import { expect, test } from 'vitest'
import { Slots, firstSlot } from '@tollbook/localnet/slots'

const salt = (byte: number) => new Uint8Array(32).fill(byte)
const branches = (byte: number) => [{ fromSlot: 0, salt: salt(byte) }]
const freshSlots = (byte = 1, blockhashSlots?: number) => new Slots(firstSlot, branches(byte), blockhashSlots)

test.each([
  [150, undefined],
  [500, 500],
])('a blockhash is accepted for %i slots after its own', (accepted, blockhashSlots) => {
  const slots = freshSlots(1, blockhashSlots)
  const blockhash = slots.blockhashOf(slots.current)

  for (let step = 0; step < accepted; step++) slots.advance()
  expect(slots.isBlockhashValid(blockhash, slots.current)).toBe(true)
  slots.advance()
  expect(slots.isBlockhashValid(blockhash, slots.current)).toBe(false)
})

test('a node that is behind knows no later blockhash, and those of its own 150 slots however far it is behind', () => {
  const slots = freshSlots()
  const blockhash = slots.blockhashOf(firstSlot)
  for (let step = 0; step < 2_000; step++) slots.advance()

  const validAt = (slot: number) => slots.isBlockhashValid(blockhash, slot)
  expect([firstSlot - 1, firstSlot, firstSlot + 150, firstSlot + 151].map(validAt)).toEqual([false, true, true, false])
})

test('another chain has other blockhashes, the same chain has the same after a restart', () => {
  const slots = freshSlots()
  for (let step = 0; step < 5; step++) slots.advance()

  expect(freshSlots(2).blockhashOf(firstSlot)).not.toBe(slots.blockhashOf(firstSlot))
  const restarted = new Slots(slots.current, branches(1))
  expect(restarted.slotHashes()).toEqual(slots.slotHashes())
  expect(restarted.isBlockhashValid(slots.blockhashOf(firstSlot), slots.current)).toBe(true)
})

test('a new branch forgets the hashes that were dropped and keeps those before it, however far it goes back', () => {
  const slots = freshSlots()
  const firstBlockhash = slots.blockhashOf(firstSlot)
  for (let step = 0; step < 1_000; step++) slots.advance()
  const dropped = slots.blockhashOf(firstSlot + 1)

  slots.branchAt(firstSlot, salt(9))

  expect([slots.current, slots.isBlockhashValid(firstBlockhash, firstSlot)]).toEqual([firstSlot, true])
  slots.advance()
  expect(slots.isBlockhashValid(dropped, slots.current)).toBe(false)
  expect(slots.blockhashOf(firstSlot + 1)).not.toBe(dropped)
})

test('the sysvar has the 512 slots before the current one, newest first', () => {
  const slots = freshSlots()
  slots.advance()
  const hashes = slots.slotHashes()

  expect([hashes.length, hashes[0]?.slot, hashes.at(-1)?.slot]).toEqual([512, firstSlot, firstSlot - 511])
  expect(hashes[0]?.hash).toBe(slots.blockhashOf(firstSlot))
})
