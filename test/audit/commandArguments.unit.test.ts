import { expect, test } from 'vitest'
import { readArguments } from '../../packages/audit/src/commandArguments.ts'

test('every checkpoint, snapshot and key of the command is used, in the order in which they are given', () => {
  const argv = ['--checkpoint', 'one', '--snapshot', 'a', '--verifier-key', 'k', '--checkpoint', 'two']
  expect(readArguments([...argv, '--snapshot', 'b', '--verifier-key', 'l'])).toMatchObject({
    checkpoints: ['one', 'two'],
    snapshots: ['a', 'b'],
    verifierKeys: ['k', 'l'],
  })
})
