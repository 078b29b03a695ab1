import { expect, test } from 'vitest'
import { movesIn } from '../../packages/audit/src/tokenMoves.ts'

test('a transfer with a fee that ends inside its amount moves nothing', () => {
  const program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
  const accounts = ['source', 'mint', 'destination', 'authority']
  const whole = Buffer.of(26, 1, 5, 0, 0, 0, 0, 0, 0, 0)
  const amountsOf = (data: Buffer) => movesIn([{ program, accounts, data }]).map((move) => move.amountBaseUnits)
  expect(amountsOf(whole)).toEqual([5n])
  // Nine bytes are enough for a transfer without a fee, whose amount begins one byte earlier.
  expect(amountsOf(whole.subarray(0, 9))).toEqual([])
})
