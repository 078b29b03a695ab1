import { expect, test } from 'vitest'
import { CopyOut } from '@tollbook/audit/copyOut'

const header = Buffer.alloc(19)

test('a row that is longer than the blocks before it is read whole', async () => {
  const copy = new CopyOut('select body')
  copy.handleCopyData({ chunk: Buffer.concat([header, Buffer.alloc(400_000, 1)]) })
  copy.handleCopyData({ chunk: Buffer.alloc(400_000, 2) })
  const blocks = copy.blocks()
  await blocks.next()
  const second = blocks.next()
  copy.handleCopyData({ chunk: Buffer.alloc(400_000, 3) })
  await second
  // The first block is free again, and has room for a common row.
  const third = blocks.next()
  const long = Buffer.alloc(3_000_000, 4)
  copy.handleCopyData({ chunk: long })
  copy.handleCopyData({ chunk: Buffer.alloc(3, 5) })
  copy.handleCommandComplete()
  copy.handleReadyForQuery()
  await third
  const { value } = await blocks.next()
  expect(value?.bytes.subarray(value.starts[0], value.starts[1]).equals(long)).toBe(true)
})
