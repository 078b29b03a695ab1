import { assert } from '@tollbook/core/assert'

/*
 * One-dimensional arrays in PostgreSQL's binary format: dimensions, a flag for nulls, the element type, length and
 * lower bound, then each element after its length. Text arrays would be slower, because this process would format each
 * value and the server would parse it.
 */

const oid = { bytea: 17, int8: 20, int2: 21, int4: 23, text: 25, numeric: 1700 } as const

type ElementType = (typeof oid)[keyof typeof oid]

const emptyHeaderBytes = 12
const headerBytes = 20
const lengthBytes = 4
const nullLength = -1

/** Allocates an array and writes its header. `start` is the offset of the first element. */
function open(type: ElementType, count: number, elementBytes: number): { array: Buffer; start: number } {
  const start = count === 0 ? emptyHeaderBytes : headerBytes
  const array = Buffer.allocUnsafe(start + elementBytes)
  array.writeInt32BE(count === 0 ? 0 : 1, 0)
  array.writeInt32BE(1, 4)
  array.writeInt32BE(type, 8)
  if (count > 0) {
    array.writeInt32BE(count, 12)
    array.writeInt32BE(1, 16)
  }
  return { array, start }
}

export function int2Array(values: readonly number[]): Buffer {
  const { array, start } = open(oid.int2, values.length, values.length * (lengthBytes + 2))
  let at = start
  for (const value of values) {
    at = array.writeInt32BE(2, at)
    at = array.writeInt16BE(value, at)
  }
  assert(at === array.length, 'the numbers fill their array')
  return array
}

/** Undefined becomes null. */
export function int4Array(values: readonly (number | undefined)[]): Buffer {
  const present = values.reduce((count: number, value) => (value === undefined ? count : count + 1), 0)
  const { array, start } = open(oid.int4, values.length, values.length * lengthBytes + present * 4)
  let at = start
  for (const value of values) {
    if (value === undefined) at = array.writeInt32BE(nullLength, at)
    else {
      at = array.writeInt32BE(4, at)
      at = array.writeInt32BE(value, at)
    }
  }
  assert(at === array.length, 'the numbers fill their array')
  return array
}

const lowWord = 2 ** 32

/** Fails an assertion for a number beyond 2^53, which would be inexact. */
export function int8Array(values: readonly number[]): Buffer {
  const { array, start } = open(oid.int8, values.length, values.length * (lengthBytes + 8))
  let at = start
  for (const value of values) {
    assert(Number.isSafeInteger(value), 'an int8 is a safe integer')
    const high = Math.floor(value / lowWord)
    at = array.writeInt32BE(8, at)
    at = array.writeInt32BE(high, at)
    at = array.writeUInt32BE(value - high * lowWord, at)
  }
  return array
}

/** Undefined becomes null. Copies the bytes. */
export function byteaArray(values: readonly (Uint8Array | undefined)[]): Buffer {
  const bytes = values.reduce((sum, value) => sum + lengthBytes + (value?.length ?? 0), 0)
  const { array, start } = open(oid.bytea, values.length, bytes)
  let at = start
  for (const value of values) {
    at = array.writeInt32BE(value?.length ?? nullLength, at)
    if (value !== undefined) {
      array.set(value, at)
      at += value.length
    }
  }
  assert(at === array.length, 'the bytes fill their array')
  return array
}

export function textArray(values: readonly string[]): Buffer {
  const bytes = values.reduce((sum, value) => sum + lengthBytes + Buffer.byteLength(value), 0)
  const { array, start } = open(oid.text, values.length, bytes)
  let at = start
  for (const value of values) {
    const length = array.write(value, at + lengthBytes)
    array.writeInt32BE(length, at)
    at += lengthBytes + length
  }
  assert(at === array.length, 'the texts fill their array')
  return array
}

/** Encodes integers of any size as digits in base 10,000, most significant first. */
export function numericArray(values: readonly bigint[]): Buffer {
  const numbers = values.map((value) => digitsOf(value < 0n ? -value : value))
  const bytes = numbers.reduce((sum, digits) => sum + lengthBytes + 8 + 2 * digits.length, 0)
  const { array, start } = open(oid.numeric, values.length, bytes)
  let at = start
  for (const [index, digits] of numbers.entries()) {
    at = array.writeInt32BE(8 + 2 * digits.length, at)
    at = array.writeInt16BE(digits.length, at)
    at = array.writeInt16BE(digits.length - 1, at)
    at = array.writeUInt16BE((values[index] ?? 0n) < 0n ? negativeSign : 0, at)
    at = array.writeInt16BE(0, at)
    for (const digit of digits) at = array.writeInt16BE(digit, at)
  }
  assert(at === array.length, 'the numbers fill their array')
  return array
}

const negativeSign = 0x4000
const base = 10_000
const wideBase = BigInt(base)
const safeInteger = BigInt(Number.MAX_SAFE_INTEGER)

function digitsOf(magnitude: bigint): readonly number[] {
  const digits: number[] = []
  let wide = magnitude
  for (; wide > safeInteger; wide /= wideBase) digits.push(Number(wide % wideBase))
  for (let rest = Number(wide); rest > 0; rest = Math.floor(rest / base)) digits.push(rest % base)
  return digits.reverse()
}
