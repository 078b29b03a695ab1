import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import { assert } from '@tollbook/core/assert'
import { parquetChunks } from '../../src/reports/export/parquetChunks.ts'
import type { PaymentRow } from '../../src/reports/export/exportRows.ts'
import { type Column, paymentColumns } from '../../src/reports/export/table.ts'
import { sampleSettlement } from '../store/samplePayment.ts'

interface Row {
  readonly position: number
  readonly body: string
}

const columns: readonly Column<Row>[] = [
  { name: 'position', type: 'integer', of: (row) => row.position },
  { name: 'body', type: 'text', of: (row) => row.body },
]
const mega = 1024 * 1024

/** Pages of a thousand rows, each body different and of that length. */
async function write(rows: number, bodyLength: number) {
  const pageRows = 1_000
  async function* pages() {
    for (let first = 1; first <= rows; first += pageRows) {
      const upto = Math.min(first + pageRows - 1, rows)
      const page = Array.from({ length: upto - first + 1 }, (_, index) => first + index)
      yield { rows: page.map((position) => ({ position, body: `${position}`.padStart(bodyLength, '.') })), upto }
    }
    await Promise.resolve()
  }
  const scope = {
    fromPosition: 1,
    toPosition: rows,
    treeSize: rows,
    root: 'r',
    checkpoint: null,
    origin: null,
    mint: null,
    isValued: false,
  }
  const pieces: Uint8Array[] = []
  for await (const { chunk } of parquetChunks(scope, { columns, pages: pages() })) pieces.push(Buffer.from(chunk))
  const bytes = Buffer.concat(pieces)
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  assert(file instanceof ArrayBuffer, 'a Buffer of ours is not shared')
  return { file, groups: parquetMetadata(file).row_groups.map(({ num_rows: count }) => Number(count)) }
}

test('a row group ends at 20,000 rows, and the last one has the rest', async () => {
  const { file, groups } = await write(45_500, 10)
  expect(groups).toEqual([20_000, 20_000, 5_500])
  const rows = await parquetReadObjects({ file, columns: ['position'] })
  expect(rows.map(({ position }) => Number(position))).toEqual(rows.map((_, index) => index + 1))
})

test('a row group ends earlier when its bodies are as large as they may be, so that it fits into memory', async () => {
  const bodyLength = 65_519
  const { groups } = await write(400, bodyLength)
  expect(groups.reduce((sum, count) => sum + count)).toBe(400)
  for (const count of groups) expect((count - 1) * bodyLength).toBeLessThan(8 * mega)
})

test.each([
  ['fulfilled', 5n],
  ['reversed', 0n],
  ['unmatched', 0n],
] as const)('a payment that is %s has received %d base units', (state, received) => {
  const row: PaymentRow = {
    position: 1,
    recordedAtMs: 0,
    settlement: { ...sampleSettlement(), receivedBaseUnits: 5n },
    state,
    attempts: 1,
    fulfilledPosition: undefined,
    fulfilledAtMs: undefined,
    isBurnOwed: false,
    prepaidBaseUnits: 0n,
  }
  expect(
    paymentColumns([])
      .find(({ name }) => name === 'received_base_units')
      ?.of(row),
  ).toBe(received)
})
