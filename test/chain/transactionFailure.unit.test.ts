import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { failureOf } from '../../src/chain/transactionFailure.ts'
import { splTokenProgram, systemProgram, token2022Program } from '@tollbook/core/programs'

const keys = [splTokenProgram, token2022Program, systemProgram]
const instructions = keys.map((_key, programIdIndex) => ({ programIdIndex, accounts: [], data: '' }))

function isShort(error: unknown): boolean | undefined {
  return failureOf(error, { keys, instructions })?.insufficientFunds
}

test('no error means no failure', () => {
  expect(failureOf(null, { keys, instructions })).toBeUndefined()
})

test.each([
  ['SPL Token', 0],
  ['Token-2022', 1],
])('error 1 of an instruction of %s is a want of tokens', (_name, index) => {
  expect(isShort({ InstructionError: [index, { Custom: 1 }] })).toBe(true)
})

test.each([
  ['error 1 of another program, where it means something else', { InstructionError: [2, { Custom: 1 }] }],
  ['another error of the token program', { InstructionError: [0, { Custom: 17 }] }],
  ['an error without a number', { InstructionError: [0, 'InvalidAccountData'] }],
  ['an error of an instruction that is not there', { InstructionError: [9, { Custom: 1 }] }],
  ['a want of SOL for the fee', 'InsufficientFundsForFee'],
  ['a want of SOL for rent', { InsufficientFundsForRent: { account_index: 0 } }],
])('%s is a failure and no want of tokens', (_name, error) => {
  expect(isShort(error)).toBe(false)
})

test('whatever a node names as an error is a failure', () => {
  fc.assert(
    fc.property(
      fc.jsonValue().filter((value) => value !== null),
      (error) => {
        expect(failureOf(error, { keys, instructions })).toMatchObject({ text: JSON.stringify(error) })
      },
    ),
  )
})
