import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import type { FindOptions, Finding } from '../../../src/payment/chainReader.ts'
import { ProvenAbsent } from '../../../src/payment/absence.ts'
import { messageReference } from '../../../src/payment/paymentReference.ts'
import { settleSponsored } from '../../../src/rails/sponsored/settleSponsored.ts'
import { signatureNumber } from '../../jobs/jobFixture.ts'
import { mint, order, referenceNumber, settlementOf, wallet, terms } from '../../payment/paymentStory.ts'

const signature = signatureNumber(1)
const digest = 'ab'.repeat(32)
const { price } = settlementOf(referenceNumber(1))
const transaction = {
  signature,
  bytes: new Uint8Array([1]),
  signers: [wallet],
  accounts: [mint],
  usesDurableNonce: false,
}

/** Settles a payment on record whose transaction the chain answers as the test says. Returns the reports to the signer. */
async function reportsOf(find: (options: FindOptions) => Finding) {
  const reports: unknown[] = []
  const deps = Object.assign(Object.create(null), {
    terms,
    chain: {
      readTransaction: () => transaction,
      find: (_signature: string, options: FindOptions = {}) => Promise.resolve(find(options)),
      broadcast: () => Promise.resolve(),
      timeMs: () => 1_790_000_000_000,
    },
    first: {
      find: () => Promise.resolve(undefined),
      record: () => Promise.resolve({ bound }),
      recordIfPossible: () => Promise.resolve(),
    },
    findListed: () => Promise.resolve({ ...price, priceList: 1 }),
    feePayer: { recordOutcome: (...report: readonly unknown[]) => Promise.resolve(void reports.push(report)) },
  })
  const proof = { reference: messageReference(digest), secret: '', isPayer: true, rail: 'x402', priceList: 1 }
  const offer = { rail: 'x402', priceList: 1 }
  const { endpoint } = order
  const payment = { phase: 'submitted', version: 1, wallet, endpoint, transactionBase64: 'AQ==', offer }
  const limits = { proofLookupWaitMs: 0, broadcastWaitMs: 0, proofMaxAgeMs: 600_000 }
  const question = Object.assign(Object.create(null), { proof, order, payment })
  await settleSponsored(deps, limits, question)
  return reports
}

const bound = { lastValidHeight: 400, basis: 'first_presentation' } as const
const landed = {
  signature,
  slot: 905,
  blockTimeMs: 1_789_999_990_000,
  failure: undefined,
  signers: [wallet],
  movements: [],
  balances: [],
  memos: [],
  bytes: undefined,
}
const found = (failure?: { readonly text: string; readonly insufficientFunds: boolean }): Finding => {
  return { kind: 'found', record: { ...landed, failure }, slot: 905, nodes: 2, isAgreed: true }
}
const reading = { node: 'node', finalizedSlot: 9, finalizedHeight: 401, searchedSlot: 9, isFound: false }
const absent = assertPresent(ProvenAbsent.prove({ signature, bound, readings: [reading] }), 'the reading proves it')

test('the signer learns of a payment that failed or never landed, and of no other refusal', async () => {
  for (const insufficientFunds of [false, true])
    expect(await reportsOf(() => found({ text: 'failed', insufficientFunds }))).toEqual([[digest, 'failed']])
  expect(await reportsOf(() => absent)).toEqual([[digest, 'absent']])
  expect(await reportsOf(() => found()), 'it landed and pays nothing').toEqual([])
  const pending: Finding = { kind: 'unknown', why: 'no node has it', isSeen: true, isAgreed: true, slot: 900 }
  expect(await reportsOf(() => pending)).toEqual([])
})
