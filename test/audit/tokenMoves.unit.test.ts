import { expect, test } from 'vitest'
import { dataOf, movesIn } from '../../packages/audit/src/tokenMoves.ts'
import { decodeInstructionData } from '../../src/chain/instructionData.ts'

test('a transfer with a fee that ends inside its amount moves nothing', () => {
  const program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
  const accounts = ['source', 'mint', 'destination', 'authority']
  const whole = Buffer.of(26, 1, 5, 0, 0, 0, 0, 0, 0, 0)
  const amountsOf = (data: Buffer) => movesIn([{ program, accounts, data }]).map((move) => move.amountBaseUnits)
  expect(amountsOf(whole)).toEqual([5n])
  // Nine bytes are enough for a transfer without a fee, whose amount begins one byte earlier.
  expect(amountsOf(whole.subarray(0, 9))).toEqual([])
})

test('each instruction of a Batch moves its amount between its accounts', () => {
  const program = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
  const transfer = (baseUnits: number) => [3, 9, 3, baseUnits, 0, 0, 0, 0, 0, 0, 0]
  const data = Buffer.of(255, ...transfer(5), ...transfer(7))
  const accounts = ['one', 'two', 'owner', 'two', 'three', 'other']
  expect(movesIn([{ program, accounts, data }])).toMatchObject([
    { source: 'one', destination: 'two', authority: 'owner', amountBaseUnits: 5n },
    { source: 'two', destination: 'three', authority: 'other', amountBaseUnits: 7n },
  ])
})

test('data of each length that a program passes is read as the service reads it, and a memo only if it can bind', () => {
  const [token, memo] = ['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr']
  for (const text of [
    '',
    '1',
    '112',
    'z'.repeat(4_096),
    `11${'Zz9'.repeat(1_400)}`,
    '1'.repeat(5_000),
    'x'.repeat(13_985),
  ])
    expect(dataOf(token, text)).toEqual(Buffer.from(decodeInstructionData(text)))
  expect(dataOf(memo, '2'.repeat(1_700)).length).toBeGreaterThan(1_000)
  expect(dataOf(memo, '2'.repeat(1_701))).toHaveLength(0)
})
