import { assert } from '@tollbook/core/assert'
import { appendValues } from '@tollbook/ledger/batch'
import { takesProgram, whyUnreadable } from '@tollbook/ledger/compatibility'
import { expect, test } from 'vitest'
import { arbitraryItems, seeded } from './arbitraryItems.ts'
import { columnNames, rawBatch } from './rawColumns.ts'

/* The columns of a batch against those that test/kernel/rawColumns.ts writes from the comment of `ledger.batch` alone. */

/** Reads an array in PostgreSQL's binary format, strictly. */
function readArray(bytes: Buffer): readonly unknown[] {
  const [dimensions, hasNulls, type] = [0, 4, 8].map((at) => bytes.readInt32BE(at))
  assert(hasNulls === 1, 'nulls are allowed')
  if (dimensions === 0) {
    assert(bytes.length === 12, 'an empty array is its header')
    return []
  }
  assert(dimensions === 1 && bytes.readInt32BE(16) === 1, 'one dimension that counts from 1')
  const values: unknown[] = []
  let at = 20
  for (let left = bytes.readInt32BE(12); left > 0; left--) {
    const length = bytes.readInt32BE(at)
    at += 4
    values.push(length === -1 ? null : readValue(type, bytes.subarray(at, at + length)))
    at += Math.max(0, length)
  }
  assert(at === bytes.length, 'nothing follows the last element')
  return values
}

function readValue(type: number | undefined, bytes: Buffer): unknown {
  if (type === 17) return bytes
  if (type === 25) return bytes.toString('utf8')
  if (type === 20) return Number(bytes.readBigInt64BE())
  if (type === 1700) return readNumeric(bytes)
  const length = type === 21 ? 2 : 4
  assert((type === 21 || type === 23) && bytes.length === length, `type ${type} has ${length} bytes`)
  return bytes.readIntBE(0, length)
}

function readNumeric(bytes: Buffer): bigint {
  const [digits = 0, weight, sign, scale] = [0, 2, 4, 6].map((at) => bytes.readUInt16BE(at))
  assert(scale === 0 && weight === (digits - 1 + 65_536) % 65_536, 'an integer ends with its last digit')
  let value = 0n
  for (let n = 0; n < digits; n++) value = value * 10_000n + BigInt(bytes.readUInt16BE(8 + 2 * n))
  assert(bytes.length === 8 + 2 * digits, 'nothing follows the last digit')
  return sign === 0x4000 ? -value : value
}

test('the columns of a batch are those that the comment of the function asks for', () => {
  const next = arbitraryItems(seeded(21))
  for (let round = 0; round < 60; round++) {
    const items = Array.from({ length: 1 + (round % 12) }, next)
    const { columns, bodies } = rawBatch(items)
    const values = appendValues(items, { newest: { position: 7, leafHash: 'ab'.repeat(32) }, timeline: 2 })
    const found = values
      .slice(0, columnNames.length)
      .map((value) => (Buffer.isBuffer(value) ? readArray(value) : value))
    expect(Object.fromEntries(columnNames.map((name, n) => [name, found[n]]))).toEqual(columns)
    expect(values.slice(columnNames.length)).toEqual([bodies, 7, Buffer.from('ab'.repeat(32), 'hex'), 2])
  }
  expect(appendValues([next()]).slice(-3)).toEqual([0, Buffer.alloc(0), 0])
})

const program = [{ name: '0001_first' }, { name: '0014_last' }]

test.each([
  ['of the same program', 14, true],
  ['that takes older programs', 13, true],
  ['that has left the program behind', 15, false],
  ['that names no oldest program', undefined, false],
] as const)('a database %s (%s) takes the program: %s', (_, oldestProgram, takes) => {
  expect(takesProgram(program, oldestProgram)).toBe(takes)
})

test.each([
  [[], undefined],
  [['0015_later', '0016_later'], undefined],
  [['0014_other'], '0014_other'],
  [['0015_later', '0013_other'], '0013_other'],
])('of a database that is ahead by %j the migration %s is not one of a release', (ahead, foreign) => {
  const why = whyUnreadable(program, ahead)
  if (foreign === undefined) expect(why).toBeUndefined()
  else expect(why).toContain(`before the first release (it has the migration ${foreign})`)
})
