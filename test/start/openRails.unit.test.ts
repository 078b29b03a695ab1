import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { isRefusal } from '@tollbook/core/refusal'
import { openRails, type RailConfig, type RailsDeps } from '../../src/start/payments/openRails.ts'
import { heldClock, signatureNumber } from '../jobs/jobFixture.ts'
import { order, otherWallet, referenceNumber, settlementOf, terms, wallet } from '../payment/paymentStory.ts'

const minuteMs = 60_000
const landedMs = 1_790_000_000_000
const landed = {
  slot: 9,
  blockTimeMs: landedMs,
  failure: undefined,
  signers: [otherWallet],
  memos: [],
  bytes: undefined,
}
const record = { ...landed, signature: signatureNumber(1), movements: [], balances: [] }

/** The refusal of a payment that was read some minutes after its landing, and is settled two minutes later. */
async function reasonOf(endpoint: string, readAfterMinutes: number): Promise<string | undefined> {
  let nowMs = landedMs + readAfterMinutes * minuteMs
  const price = { ...settlementOf(referenceNumber(1)).price, priceList: 1 }
  const config: RailConfig = Object.assign(Object.create(null), {
    catalog: { split: [], token: {}, seller: {} },
    sale: { proofLookupWaitMs: 1, broadcastWaitMs: 1, proofMaxAgeMs: 60 * minuteMs, quoteGraceMs: 0 },
  })
  const deps: RailsDeps = Object.assign(Object.create(null), {
    clock: heldClock,
    ledger: {
      payments: { findOpenQuote: () => Promise.resolve(undefined), findPrice: () => Promise.resolve(price) },
      presentations: { find: () => Promise.resolve(undefined) },
      priceLists: {},
      settings: { depositTerms: () => terms, acceptedTerms: () => [terms], acceptedDepositTerms: () => [terms] },
    },
    chain: {
      terms,
      reader: {
        timeMs: () => nowMs,
        landingBound: () => undefined,
        find: () => Promise.resolve({ kind: 'found', record, slot: 9, nodes: 2, isAgreed: true }),
      },
    },
    products: {},
    signer: {},
  })
  const native = assertPresent(openRails(config, deps).at(-1), 'the native rail is last')
  const proof = Buffer.from(signatureNumber(1)).toString('base64')
  const headers = new Map([
    ['x-wallet-address', wallet],
    ['x-payment-proof', proof],
  ])
  const header = (name: string) => headers.get(name)
  const request = { header, mount: undefined, method: 'POST', target: endpoint, bodyDigest: () => undefined }
  const presented = native.read(request)
  if (isRefusal(presented)) return presented.reason
  nowMs += 2 * minuteMs
  const payment = { phase: 'unknown', version: 0 } as const
  const { verdict } = await native.settle({ proof: presented.proof, order: { ...order, endpoint }, payment })
  return isRefusal(verdict) ? verdict.reason : undefined
}

// A payment that is young enough reaches the next check, which refuses its signer.
test.each(['/api/data/crypto', '/api/tabs'])(
  'the first reading of a payment for %s decides whether it is too old, and not the settlement',
  async (endpoint) => {
    expect(await reasonOf(endpoint, 59)).toBe('wallet_did_not_sign')
    expect(await reasonOf(endpoint, 61)).toBe('too_old')
  },
)
