import { expect, test } from 'vitest'
import { mistypedVariables } from '../../src/config.ts'

test.each([
  ['PAYMENT_WALET', 'PAYMENT_WALLET'],
  ['SOLANA_RPC_URL', 'SOLANA_RPC_URLS'],
  ['HANDLER_TIMEOUTMS', 'HANDLER_TIMEOUT_MS'],
  ['TOLLBOOK_HMOE', 'TOLLBOOK_HOME'],
  ['TOLLBOOK_DIRECTORY', 'TOLLBOOK_HOME'],
  // OPERATOR_DATABASE_URL is nearer, and a service must never use that login.
  ['TOLLBOOK_DATABASE_URL', 'DATABASE_URL'],
])('%s was meant to be %s', (name, meant) => {
  expect(mistypedVariables({ [name]: 'x' })).toEqual([{ name, meant }])
})

test('a variable that is set under its right name, too, was not mistyped', () => {
  expect(mistypedVariables({ SOLANA_RPC_URL: 'x', SOLANA_RPC_URLS: 'y' })).toEqual([])
})

test('variables of other programs are let alone', () => {
  const env = { PATH: 'x', POST: 'x', HOSTNAME: 'x', LANGUAGE: 'x', npm_config_cache: 'x', SSH_CONNECTION: 'x' }
  expect(mistypedVariables(env)).toEqual([])
})
