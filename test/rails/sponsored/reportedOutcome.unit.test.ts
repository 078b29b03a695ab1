import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { isRefusal, refuseProof } from '@tollbook/core/refusal'
import { ProvenAbsent } from '../../../src/payment/absence.ts'
import type { ChainReader, Finding } from '../../../src/payment/chainReader.ts'
import { evolve, type PaymentState, type Submitted } from '../../../src/payment/payment.ts'
import type { PaymentChange } from '../../../src/payment/paymentLedger.ts'
import { messageReference, transactionReference } from '../../../src/payment/paymentReference.ts'
import type { SignedTransaction } from '../../../src/payment/proof.ts'
import { settleSponsored, type SponsoredSettleDeps } from '../../../src/rails/sponsored/settleSponsored.ts'
import { heldClock, signatureNumber } from '../../jobs/jobFixture.ts'
import { mint, order, otherWallet, referenceNumber, settlementOf, wallet, terms } from '../../payment/paymentStory.ts'

/* A payment that the fee payer has signed before, on a chain that says what a test wants. */

const signature = signatureNumber(1)
const digest = 'ab'.repeat(32)
const { price } = settlementOf(referenceNumber(1))
const nowMs = heldClock.nowMs()
const bytes = new Uint8Array([1])
const transaction: SignedTransaction = {
  signature,
  bytes,
  signers: [otherWallet, wallet],
  accounts: [wallet, mint],
  blockhash: 'hash',
  usesDurableNonce: false,
}
const bound = { lastValidHeight: 400, basis: 'first_presentation' } as const
const readings = [{ node: 'node', finalizedHeight: 501, finalizedSlot: 1, searchedSlot: 1, isFound: false }]
const absent = assertPresent(ProvenAbsent.prove({ signature, bound, readings }), 'the reading proves it')
const pending: Finding = { kind: 'unknown', why: 'it is young', slot: 1, isSeen: true, isAgreed: false }
const failed: Finding = {
  kind: 'found',
  record: {
    signature,
    slot: 9,
    blockTimeMs: nowMs,
    failure: { text: 'it failed', insufficientFunds: false },
    signers: [otherWallet, wallet],
    movements: [],
    balances: [],
    memos: [],
    bytes,
  },
  slot: 9,
  nodes: 2,
  isAgreed: true,
}
const recorded: Submitted = {
  phase: 'submitted',
  version: 1,
  wallet,
  endpoint: order.endpoint,
  transactionBase64: 'AQ==',
  offer: { rail: 'x402', priceList: 3 },
}

interface Script {
  readonly finding: Finding
  readonly payment?: PaymentState
  readonly reports?: () => Promise<void>
  readonly dollar?: typeof mint
}

async function settled({ finding, payment = { phase: 'unknown', version: 0 }, reports, dollar }: Script) {
  const reported: string[] = []
  const noted: object[] = []
  const lists: (number | undefined)[] = []
  const changes: PaymentChange[] = []
  const chain: Pick<ChainReader, 'find' | 'readTransaction' | 'simulate' | 'broadcast' | 'timeMs'> = {
    find: async () => finding,
    readTransaction: () => transaction,
    simulate: async () => {
      const effects = { movements: [], memos: [], balances: undefined }
      return { outcome: 'would_succeed', effects, bound }
    },
    broadcast: async () => undefined,
    timeMs: () => nowMs,
  }
  const presentation = { reference: transactionReference(signature), wallet, presentedAtMs: nowMs, bound }
  const deps: SponsoredSettleDeps = {
    clock: heldClock,
    terms,
    chain: Object.assign(Object.create(null), chain),
    first: {
      note: (presented) => void noted.push(presented),
      record: async () => presentation,
      recordIfPossible: async () => undefined,
      find: async () => undefined,
    },
    priceOfList: async (priceList) => {
      lists.push(priceList)
      return { price, priceList, quoteId: undefined }
    },
    findListed: async (_, priceList, ofDollar) => {
      lists.push(priceList)
      return ofDollar === dollar ? { ...price, priceList } : undefined
    },
    ...(dollar === undefined ? {} : { dollar }),
    ledger: {
      lookUp: () => Promise.reject(new Error('not looked up')),
      async append(change) {
        changes.push(change)
        const after = change.events.reduce((state, event) => evolve(state, event, nowMs), change.before)
        return { outcome: 'appended', after, recordedAtMs: nowMs, leaves: [] }
      },
    },
    feePayer: {
      standing: () => Promise.reject(new Error('not asked')),
      find: async () => ({ signature, asOf: '' }),
      sign: () => Promise.reject(new Error('signed before')),
      async recordOutcome(of, outcome) {
        reported.push(`${of === digest} ${outcome}`)
        await reports?.()
      },
    },
    judgeSponsored: () => 'malformed',
    completeTransaction: () => transaction,
  }
  const signed = { bytes, message: bytes, digest, payer: wallet, mint, memo: undefined }
  const rules = { refuseOffer: () => undefined, refuseSponsor: () => refuseProof('not_sponsored') }
  const proof = {
    reference: messageReference(digest),
    signed,
    secret: 's',
    isPayer: true,
    rail: 'x402',
    priceList: 4,
    rules,
  }
  const limits = { proofLookupWaitMs: 1, broadcastWaitMs: 1, proofMaxAgeMs: 60_000 }
  const question = { proof: { ...proof, isPayer: true as const }, order, payment }
  const { verdict } = await settleSponsored(deps, limits, question)
  return { outcome: isRefusal(verdict) ? (verdict.reason ?? verdict.code) : 'settled', reported, noted, lists, changes }
}

test.each<[string, Finding, string, readonly string[]]>([
  ['has failed', failed, 'transaction_failed', ['true failed']],
  ['can never land', absent, 'blockhash_expired', ['true absent']],
  ['is pending', pending, 'PAYMENT_PENDING', []],
])('the signer learns of a recorded payment that %s', async (_, finding, reason, reported) => {
  const { outcome, reported: reports, lists } = await settled({ finding, payment: recorded })
  expect([outcome, reports]).toEqual([reason, reported])
  expect(lists.every((list) => list === 3)).toBe(true)
})

test('a signer that does not answer delays no refusal, and a bug in it is not hidden', async () => {
  const away = () => Promise.reject(new Fault('the signer is away', { retryable: true }))
  expect((await settled({ finding: absent, payment: recorded, reports: away })).outcome).toBe('blockhash_expired')
  const broken = () => Promise.reject(new Error('a bug'))
  await expect(settled({ finding: absent, payment: recorded, reports: broken })).rejects.toThrow('a bug')
})

test('a payment that only the signer knows is presented under its signature, at the list of its offer', async () => {
  const { noted, lists } = await settled({ finding: pending })
  expect(noted).toEqual([{ reference: transactionReference(signature), wallet }])
  expect(lists[0]).toBe(4)
})

test('a recorded payment in dollars is settled at the dollar price of its list', async () => {
  const { outcome, lists } = await settled({ finding: failed, payment: recorded, dollar: otherWallet })
  expect([outcome, lists[0]]).toEqual(['transaction_failed', 3])
})
