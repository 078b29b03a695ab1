import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import {
  describeTransactionError,
  instructionErrorTexts,
  transactionErrorTexts,
} from '@tollbook/localnet/transactionError'

test.each([
  ['TransactionErrorFieldless', transactionErrorTexts],
  ['InstructionErrorFieldless', instructionErrorTexts],
])('our names are in the order of litesvm %s', async (name, texts) => {
  const declarations = await readFile(createRequire(import.meta.url).resolve('litesvm/dist/internal.d.ts'), 'utf8')
  const [, members = ''] = new RegExp(`const enum ${name} \\{([^}]*)\\}`).exec(declarations) ?? []
  const numbered = [...members.matchAll(/(\w+) = (\d+)/g)].map(([, member, number]) => [Number(number), member])

  expect([...texts.keys()].map((key, index) => [index, key])).toEqual(numbered)
})

test.each([
  ['BlockhashNotFound', 'Blockhash not found'],
  [{ InstructionError: [2, { Custom: 255 }] as const }, 'Error processing Instruction 2: custom program error: 0xff'],
  [{ InstructionError: [0, 'InvalidArgument'] as const }, 'Error processing Instruction 0: invalid program argument'],
  [
    { InstructionError: [0, { BorshIoError: 'end' }] as const },
    'Error processing Instruction 0: Failed to serialize or deserialize account data: end',
  ],
  [{ DuplicateInstruction: 3 }, 'Transaction contains a duplicate instruction (3) that is not allowed'],
  [
    { ProgramExecutionTemporarilyRestricted: { account_index: 4 } },
    'Execution of the program referenced by account at index 4 is temporarily restricted.',
  ],
])('%j is described as a node does', (error, text) => {
  expect(describeTransactionError(error)).toBe(text)
})
