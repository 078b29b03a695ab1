import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Words of one rail. The port in rail.ts may name them in comments only, and does not. */
const nativeWords =
  /x-wallet-address|x-payment-proof|solana|\bsecret\b(?!Headers)|\bmemo\b|blockhash|\bslot\b|lamport|\bsignature\b|\btransaction\b(?! of the database)/i

const files = globSync('src/paywall/*.ts')

test('the paywall has files to check', () => expect(files.length).toBeGreaterThan(8))

test.each(files)('%s knows no word of a rail', (file) => {
  const lines = readFileSync(file, 'utf8').split('\n')
  expect(lines.filter((line) => nativeWords.test(line))).toEqual([])
})

/** Words of x402 and MPP. The formats that both publish for documents bear their names. */
const protocolWords = /(?<!\.well-known\/|of )\bx402\b|\bmpp\b(?! discovery)|\bcharge\b|'native'/i

test.each([...files, ...globSync('src/{document,routes}/*.ts')])('%s knows no rail by its protocol', (file) => {
  const lines = readFileSync(file, 'utf8').split('\n')
  expect(lines.filter((line) => protocolWords.test(line))).toEqual([])
})

test.each([
  'src/transport/app.ts',
  'src/transport/servePaid.ts',
  'src/transport/admitRequest.ts',
  'src/transport/admission.ts',
  'src/transport/routes.ts',
  'src/transport/send.ts',
])('%s names no header of a payment', (file) => {
  expect(readFileSync(file, 'utf8')).not.toMatch(/x-wallet-address|x-payment-proof/)
})
