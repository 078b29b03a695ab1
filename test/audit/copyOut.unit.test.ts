import { expect, test } from 'vitest'
import { CopyOut } from '@tollbook/audit/copyOut'

const header = Buffer.alloc(19)

test('rows of any length are read whole and in order, although the connection overwrites its buffer', async () => {
  const copy = new CopyOut('select body')
  const rows = [400_000, 400_000, 3_000_000, 3].map((length, index) => Buffer.alloc(length, index + 1))
  for (const [index, row] of rows.entries()) {
    const chunk = index === 0 ? Buffer.concat([header, row]) : Buffer.from(row)
    copy.handleCopyData({ chunk })
    chunk.fill(0)
  }
  copy.handleCopyData({ chunk: Buffer.alloc(2, 255) })
  copy.handleCommandComplete()
  copy.handleReadyForQuery()
  const read: Buffer[] = []
  for await (const block of copy.blocks()) read.push(...block)
  expect(read).toHaveLength(rows.length)
  for (const [index, row] of rows.entries()) expect(read[index]?.equals(row)).toBe(true)
})
