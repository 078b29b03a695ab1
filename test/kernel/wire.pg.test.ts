import fc from 'fast-check'
import { fileURLToPath } from 'node:url'
import { readDeclaration } from './declaration.ts'
import { byteaArray, int2Array, int4Array, int8Array, numericArray, textArray } from '@tollbook/ledger/wire'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { openPool } from './openKernel.ts'

const { serviceUrl } = await createTestDatabase()
const pool = openPool(serviceUrl)

/** The array as Postgres reads it, in its own text form. */
async function readBack(type: string, array: Buffer): Promise<unknown> {
  const { rows } = await pool.query<{ found: unknown }>(`select to_json($1::${type}[]::text[]) as found`, [array])
  return rows[0]?.found
}

const textOf = (value: unknown) => String(value)

test('arrays in binary form arrive as the values that were written, of every length and sign', async () => {
  const arbitrary = fc.record({
    small: fc.array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 70 }),
    whole: fc.array(fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { nil: undefined }), {
      maxLength: 70,
    }),
    wide: fc.array(fc.maxSafeInteger(), { maxLength: 70 }),
    text: fc.array(
      fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
      { maxLength: 20 },
    ),
    bytes: fc.array(fc.option(fc.uint8Array({ maxLength: 80 }), { nil: undefined }), { maxLength: 20 }),
    numbers: fc.array(fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }), { maxLength: 40 }),
  })
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ small, whole, wide, text, bytes, numbers }) => {
      expect(await readBack('int2', int2Array(small))).toEqual(small.map(textOf))
      expect(await readBack('int4', int4Array(whole))).toEqual(
        whole.map((value) => (value === undefined ? null : String(value))),
      )
      expect(await readBack('int8', int8Array(wide))).toEqual(wide.map((value) => String(value === 0 ? 0 : value)))
      expect(await readBack('text', textArray(text))).toEqual(text)
      const hex = bytes.map((value) => (value === undefined ? null : `\\x${Buffer.from(value).toString('hex')}`))
      expect(await readBack('bytea', byteaArray(bytes))).toEqual(hex)
      expect(await readBack('numeric', numericArray(numbers))).toEqual(numbers.map(textOf))
    }),
    { numRuns: 60 },
  )
})

test('a wide integer that is not safe is a bug, not another number', () => {
  expect(() => int8Array([2 ** 53])).toThrow('an int8 is a safe integer')
})

test('the declaration that is read from the files is the one in the database', async () => {
  const declaration = await readDeclaration(fileURLToPath(new URL('../../migrations/kinds', import.meta.url)))
  const { rows: kinds } = await pool.query(
    'select kind, space, id_bytes as "idBytes", id_prefix as "idPrefix", is_setting as "isSetting" from ledger.kinds order by kind',
  )
  expect(declaration.kinds.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toEqual(kinds)
  const { rows: steps } = await pool.query<{ key: string }>(
    `select jsonb_build_array(step, kind, from_state, to_state, event_kinds, lease, after_lease, moves, writer, number_max)::text as key from ledger.steps`,
  )
  const read = declaration.steps.map((s) =>
    JSON.stringify([
      s.step,
      s.kind,
      s.fromState,
      s.toState,
      s.eventKinds,
      s.lease,
      s.afterLease,
      s.moves,
      s.writer,
      s.numberMax ?? null,
    ]),
  )
  const compact = steps.map(({ key }) => JSON.stringify(JSON.parse(key)))
  expect(read.toSorted()).toEqual(compact.toSorted())
  const { rows: classes } = await pool.query<{ key: string }>(
    'select jsonb_build_array(class, prefix, is_exact, floor, ceiling, hourly)::text as key from ledger.classes',
  )
  const readClasses = declaration.classes.map((c) =>
    JSON.stringify([
      c.class,
      c.prefix,
      c.isExact,
      c.floorBaseUnits === undefined ? null : Number(c.floorBaseUnits),
      c.ceilingBaseUnits === undefined ? null : Number(c.ceilingBaseUnits),
      c.hourly,
    ]),
  )
  expect(readClasses.toSorted()).toEqual(classes.map(({ key }) => JSON.stringify(JSON.parse(key))).toSorted())
})
