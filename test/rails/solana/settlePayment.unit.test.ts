import { expect, test } from 'vitest'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { Fault } from '@tollbook/core/fault'
import type { Price } from '@tollbook/core/quote'
import { isRefusal } from '@tollbook/core/refusal'
import { type LandingBound, ProvenAbsent } from '../../../src/payment/absence.ts'
import type { ChainReader, FindOptions, Finding, Found, Unknown } from '../../../src/payment/chainReader.ts'
import { evolve, type PaymentState } from '../../../src/payment/payment.ts'
import type { PaymentChange } from '../../../src/payment/paymentLedger.ts'
import { transactionReference } from '../../../src/payment/paymentReference.ts'
import type { SignedTransaction, Simulation } from '../../../src/payment/proof.ts'
import type { TransactionRecord } from '../../../src/payment/transactionRecord.ts'
import type { FirstPresentations } from '../../../src/rails/solana/firstPresentation.ts'
import { settlePayment, type SettleDeps } from '../../../src/rails/solana/settlePayment.ts'
import { heldClock, signatureNumber } from '../../jobs/jobFixture.ts'
import { mint, order, otherWallet, referenceNumber, settlementOf, wallet } from '../../payment/paymentStory.ts'

/* The settlement with a scripted chain: `finds` has the next findings, and `asked` lists how each was asked for. */

const address = (byte: number) =>
  assertPresent(readAddress(encodeBase58(new Uint8Array(32).fill(byte))), '32 bytes are an address')
const [account, tokenProgram] = [address(3), address(4)]
const { price } = settlementOf(referenceNumber(1))
const terms = {
  mint,
  decimals: 6,
  tokenProgram,
  paymentWallet: otherWallet,
  paymentTokenAccount: address(5),
  network: 'solana:test',
}
const signature = signatureNumber(1)
const reference = transactionReference(signature)
const nowMs = heldClock.nowMs()
const unknownPayment: PaymentState = { phase: 'unknown', version: 0 }
const submitted: PaymentState = {
  phase: 'submitted',
  version: 1,
  wallet,
  endpoint: order.endpoint,
  transactionBase64: 'AQ==',
}
const movement = { tokenProgram, mint, authority: wallet, source: account }
const paidBaseUnits = price.requiredBaseUnits - price.burnBaseUnits
const record: TransactionRecord = {
  signature,
  slot: 100,
  blockTimeMs: nowMs - 1_000,
  failure: undefined,
  signers: [wallet],
  bytes: new Uint8Array([1]),
  memos: [],
  movements: [
    { ...movement, kind: 'burn', amountBaseUnits: price.burnBaseUnits },
    { ...movement, kind: 'transfer', destination: terms.paymentTokenAccount, amountBaseUnits: paidBaseUnits },
  ],
  balances: [
    { tokenAccount: account, mint, ownersSeen: [wallet], beforeBaseUnits: price.requiredBaseUnits, afterBaseUnits: 0n },
    {
      tokenAccount: terms.paymentTokenAccount,
      mint,
      ownersSeen: [otherWallet],
      beforeBaseUnits: 0n,
      afterBaseUnits: paidBaseUnits,
    },
  ],
}
const found = (changes: Partial<TransactionRecord> = {}, isAgreed = false): Found => {
  return { kind: 'found', record: { ...record, ...changes }, slot: 100, nodes: isAgreed ? 2 : 1, isAgreed }
}
const unseen = (slot: number, changes: Partial<Unknown> = {}): Unknown => {
  return { kind: 'unknown', why: 'no node has it', slot, isSeen: false, isAgreed: true, ...changes }
}
const bound: LandingBound = { lastValidHeight: 400, basis: 'first_presentation' }
const readings = [{ node: 'node', finalizedHeight: 501, finalizedSlot: 1, searchedSlot: 1, isFound: false }]
const absent = assertPresent(ProvenAbsent.prove({ signature, bound, readings }), 'the reading proves it')
const bytes = new Uint8Array([1])
const transaction: SignedTransaction = {
  signature,
  bytes,
  signers: [wallet],
  accounts: [wallet, mint],
  blockhash: 'hash',
  usesDurableNonce: false,
}
const effects = { movements: record.movements, memos: [], balances: record.balances }

interface Script {
  readonly finds?: readonly (Finding | Error)[]
  readonly balances?: readonly { readonly baseUnits: bigint; readonly slot: number; readonly isAgreed: boolean }[]
  readonly simulation?: Simulation
  readonly transaction?: SignedTransaction
  readonly payment?: PaymentState
  readonly firstPresentedAtMs?: number
  readonly quorumAboveMicroUsd?: bigint
  readonly charged?: Price
}

async function settled({ finds = [], balances = [], payment = unknownPayment, ...script }: Script) {
  const asked: FindOptions[] = []
  const did: string[] = []
  const changes: PaymentChange[] = []
  let searched = 0
  let read = 0
  const chain: Pick<ChainReader, 'find' | 'readBalance' | 'timeMs' | 'simulate' | 'broadcast'> = {
    async find(_, options = {}) {
      asked.push(options)
      const next = finds[searched++] ?? unseen(1)
      if (next instanceof Error) throw next
      return next
    },
    readBalance: async () => balances[read++] ?? { baseUnits: 10n ** 12n, slot: 1, isAgreed: true },
    timeMs: () => nowMs,
    simulate: async () => script.simulation ?? { outcome: 'already_landed' },
    broadcast: async () => void did.push('broadcast'),
  }
  const presentation = { reference, wallet, presentedAtMs: script.firstPresentedAtMs ?? nowMs, bound }
  const first: FirstPresentations = {
    note: () => undefined,
    async record() {
      did.push('record')
      return presentation
    },
    recordIfPossible: async () => void did.push('record if possible'),
    find: async () => (script.firstPresentedAtMs === undefined ? undefined : presentation),
  }
  const deps: SettleDeps = {
    clock: heldClock,
    terms,
    chain: Object.assign(Object.create(null), chain),
    first,
    choosePrice: async () => ({ price: script.charged ?? price, priceList: 1, quoteId: 'quote_1' }),
    ledger: {
      async append(change) {
        changes.push(change)
        const after = change.events.reduce((state, event) => evolve(state, event, nowMs), change.before)
        return { outcome: 'appended', after, recordedAtMs: nowMs, leaves: [] }
      },
    },
  }
  const { quorumAboveMicroUsd } = script
  const limits = { proofLookupWaitMs: 2, broadcastWaitMs: 10, proofMaxAgeMs: 60_000, quorumAboveMicroUsd }
  const proof = { reference, signature, secret: undefined, transaction: script.transaction }
  const result = await settlePayment(deps, limits, { proof, order, payment }).catch((error: unknown) => error)
  if (result instanceof Error) return { outcome: result.message, asked, did, changes, state: undefined }
  const { verdict, payment: state } = Object(result)
  return { outcome: isRefusal(verdict) ? (verdict.reason ?? verdict.code) : 'settled', asked, did, changes, state }
}

const poor = (slot: number, isAgreed = true) => ({ baseUnits: 3n, slot, isAgreed })
const rich = { baseUnits: price.requiredBaseUnits, slot: 50, isAgreed: true }

test.each<[string, Script, string, number]>([
  ['the wallet can pay', { balances: [rich] }, 'not_found', 1],
  ['a node has seen it', { finds: [unseen(1, { isSeen: true })], balances: [poor(50)] }, 'not_found', 1],
  ['too few nodes know the balance', { balances: [poor(50, false)] }, 'not_found', 1],
  ['the wallet could pay a moment ago', { balances: [poor(50), rich] }, 'not_found', 1],
  [
    'a later state was searched',
    { finds: [unseen(1), unseen(51)], balances: [poor(50), poor(40)] },
    'INSUFFICIENT_BALANCE',
    2,
  ],
  ['no later state was searched', { finds: [unseen(1), unseen(50)], balances: [poor(50), poor(40)] }, 'not_found', 2],
  [
    'too few nodes searched',
    { finds: [unseen(1), unseen(51, { isAgreed: false })], balances: [poor(50), poor(40)] },
    'not_found',
    2,
  ],
  ['it is found then', { finds: [unseen(1), found()], balances: [poor(50), poor(40)] }, 'settled', 2],
])('a signature that no node has, if %s, is judged %#', async (_, script, outcome, searches) => {
  const { outcome: judged, asked, did } = await settled(script)
  expect([judged, asked.length]).toEqual([outcome, searches])
  expect(asked[0]).toEqual({ waitMs: 2 })
  if (searches === 2) expect(asked[1]).toEqual({ minSlot: 51 })
  expect(did).toEqual(['record'])
})

test('a payment above the quorum needs two nodes, and one at the quorum does not', async () => {
  const single = await settled({ finds: [found()], quorumAboveMicroUsd: price.priceMicroUsd })
  expect([single.outcome, single.asked.length]).toEqual(['settled', 1])
  const quorumAboveMicroUsd = price.priceMicroUsd - 1n
  const both = await settled({ finds: [found(), found({}, true)], quorumAboveMicroUsd })
  expect([both.outcome, both.asked[1]]).toEqual(['settled', { isAgreed: true }])
  const alone = await settled({ finds: [found(), unseen(1, { isSeen: true })], quorumAboveMicroUsd })
  expect(alone.outcome).toBe('PAYMENT_PENDING')
  const agreed = await settled({ finds: [found({}, true)], quorumAboveMicroUsd })
  expect([agreed.outcome, agreed.asked.length]).toEqual(['settled', 1])
})

test('a refusal needs two nodes, and the record on which they agree is judged', async () => {
  const foreign = { signers: [otherWallet] }
  const liar = await settled({ finds: [found(foreign), found({}, true)] })
  expect(liar.outcome).toBe('settled')
  const refused = await settled({ finds: [found(foreign), found(foreign, true)] })
  expect([refused.outcome, refused.asked.length]).toEqual(['wallet_did_not_sign', 2])
})

test('a failed transaction is refused only when the failure is final', async () => {
  const failed = { failure: { text: 'it failed', insufficientFunds: false } }
  const final = await settled({ finds: [found(failed, true), found(failed, true)] })
  expect([final.outcome, final.asked[1]]).toEqual(['transaction_failed', { commitment: 'finalized', isAgreed: true }])
  const forked = await settled({ finds: [found(failed, true), found({}, true)] })
  expect(forked.outcome).toBe('settled')
  const young = await settled({ finds: [found(failed, true), unseen(1)] })
  expect(young.outcome).toBe('PAYMENT_PENDING')
})

test('a payment is too old by the time from its block to its first presentation', async () => {
  const landed = (ageMs: number) => ({ blockTimeMs: nowMs - ageMs })
  const settle = async (ageMs: number, more: Script = {}) =>
    (await settled({ finds: [found(landed(ageMs), true)], ...more })).outcome
  expect(await settle(60_000)).toBe('settled')
  expect(await settle(60_001)).toBe('too_old')
  expect(await settle(90_000, { firstPresentedAtMs: nowMs - 30_000 })).toBe('settled')
  expect(await settle(90_000, { firstPresentedAtMs: nowMs - 29_999 })).toBe('too_old')
  expect(await settle(90_000, { payment: submitted })).toBe('settled')
  const { outcome } = await settled({ finds: [found({ blockTimeMs: undefined })] })
  expect(outcome).toContain('time of the block')
})

test('a presentation is recorded if the outcome is unknown because of a fault', async () => {
  const { outcome, did } = await settled({ finds: [new Fault('no node answers', { retryable: true })] })
  expect([outcome, did]).toEqual(['no node answers', ['record if possible']])
  const bug = await settled({ finds: [new Error('a bug')] })
  expect([bug.outcome, bug.did]).toEqual(['a bug', []])
})

const succeeds = (lastValidHeight: number): Simulation => {
  return { outcome: 'would_succeed', effects, bound: { lastValidHeight, basis: 'blockhash_accepted' } }
}

test('a plain transaction to a deposit is not sent, because it would open no tab', async () => {
  const charged = {
    ...price,
    burnBaseUnits: 0n,
    requiredBaseUnits: 1n,
    shares: [{ account: 'prepaid', baseUnits: 1n }],
  }
  const { outcome, did } = await settled({ transaction, simulation: succeeds(300), charged })
  expect([outcome, did]).toEqual(['deposit_not_bound', []])
})

test('a transaction is recorded before it is sent, and its absence is proven by the lower bound', async () => {
  const sent = await settled({ transaction, simulation: succeeds(300), finds: [unseen(1), absent] })
  expect([sent.outcome, sent.did]).toEqual(['blockhash_expired', ['broadcast', 'record']])
  expect(sent.changes).toMatchObject([{ step: 'payment.submit', before: unknownPayment, reference }])
  expect(sent.state).toMatchObject({ phase: 'submitted', transactionBase64: 'AQ==' })
  expect(sent.asked).toMatchObject([{ waitMs: 10, isSent: true }, { bound: { lastValidHeight: 300 } }])
  const later = await settled({ transaction, simulation: succeeds(900), finds: [unseen(1), unseen(1)] })
  expect([later.outcome, later.asked[1]]).toEqual(['PAYMENT_PENDING', { bound }])
  const unsent = await settled({ transaction, simulation: { outcome: 'unknown' }, finds: [unseen(1), unseen(1)] })
  expect([unsent.outcome, unsent.did, unsent.asked[0]]).toEqual([
    'PAYMENT_PENDING',
    ['record'],
    { waitMs: 0, isSent: false },
  ])
})

test('a transaction that the wallet did not sign, or without the mint, is neither rehearsed nor searched', async () => {
  const foreign = await settled({ transaction: { ...transaction, signers: [otherWallet] } })
  expect([foreign.outcome, foreign.asked, foreign.did]).toEqual(['wallet_did_not_sign', [], []])
  expect((await settled({ transaction: { ...transaction, accounts: [wallet] } })).outcome).toBe('burn_insufficient')
})

test('a transaction with a durable nonce is accepted once it has landed, and has no bound', async () => {
  const nonce = { ...transaction, usesDurableNonce: true }
  const landed = await settled({ transaction: nonce, finds: [found(), found()] })
  expect([landed.outcome, landed.did]).toEqual(['settled', []])
  expect((await settled({ transaction: nonce, finds: [unseen(1)] })).outcome).toBe('durable_nonce')
  const single = await settled({ transaction: nonce, finds: [unseen(1, { isAgreed: false })] })
  expect([single.outcome, single.asked[2]]).toEqual(['PAYMENT_PENDING', {}])
})

test('a recorded transaction is sent again only if no node has it and a block may still take it', async () => {
  const again = (...finds: readonly Finding[]) => settled({ transaction, payment: submitted, finds })
  expect((await again(unseen(1), found())).did).toEqual(['broadcast'])
  expect((await again(unseen(1, { isSeen: true }), found())).did).toEqual([])
  const over = await again(absent)
  expect([over.outcome, over.did, over.state]).toEqual(['blockhash_expired', [], submitted])
})

const fails = (slot: number): Simulation => ({ outcome: 'would_fail', text: 'it fails', insufficientFunds: true, slot })

test.each<[string, Script, string]>([
  ['the wallet is short', { balances: [poor(60)], finds: [unseen(60)] }, 'INSUFFICIENT_BALANCE'],
  ['the search was in an older state', { balances: [poor(60)], finds: [unseen(59)] }, 'PAYMENT_PENDING'],
  ['too few nodes searched', { balances: [poor(60)], finds: [unseen(60, { isAgreed: false })] }, 'PAYMENT_PENDING'],
  ['the wallet can pay', { balances: [rich], finds: [unseen(50)] }, 'simulation_failed'],
  ['it has landed meanwhile', { balances: [poor(60)], finds: [found(), found()] }, 'settled'],
])('a transaction that would fail, if %s, is judged %#', async (_, script, outcome) => {
  const judged = await settled({ transaction, simulation: fails(50), ...script })
  expect([judged.outcome, judged.did.includes('broadcast')]).toEqual([outcome, false])
  expect(judged.asked[0]).toEqual({ minSlot: outcome === 'simulation_failed' ? 50 : 60 })
})
