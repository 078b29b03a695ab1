import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assert, assertNever } from '@tollbook/core/assert'
import { isRefusal } from '@tollbook/core/refusal'
import { type AccountClass, readDeclaration, type Step } from '../kernel/declaration.ts'
import type { Posting } from '../../src/accounting/posting.ts'
import {
  type BurnState,
  decideBurnConfirm,
  decideBurnFail,
  decideBurnSubmit,
  evolveBurn,
  unknownBurn,
} from '../../src/payment/burn.ts'
import { ledgerCodec, type LedgerEvent } from '../../src/payment/events.ts'
import {
  decideDelivery,
  decideExpiry,
  decideFinality,
  decideRefund,
  decideUnmatched,
} from '../../src/payment/finality.ts'
import { decideSubmit } from '../../src/payment/submission.ts'
import * as attempt from '../../src/payment/attempt.ts'
import * as payment from '../../src/payment/payment.ts'
import {
  decideApproval,
  decideGrant,
  evolveRefund,
  noRefund,
  type RefundState,
} from '../../src/payment/refundDecision.ts'
import { decideSettingChange } from '../../src/settings/settingChange.ts'
import { periodsOf } from '../../src/settings/settingPeriods.ts'
import { decideFirstSetting, decidePriceList } from '../../src/settings/settings.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import { anySettlement } from '../store/arbitraryEvent.ts'
import { sampleSettlement } from '../store/samplePayment.ts'
import { dollarSplit, split } from '../../src/pricing/split.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { tabRequestReference } from '../../src/payment/paymentReference.ts'
import {
  decideClose,
  decideKeys,
  decideReturn,
  evolveLifecycle,
  lifecycleName,
  newLifecycle,
  type TabLifecycle,
} from '../../src/payment/tab.ts'
import { mint, order, referenceNumber, settlementOf } from './paymentStory.ts'

/*
 * Two state machines that were written apart: the deciders, and the rows of migrations/kinds that the ledger enforces.
 * Walking the deciders in every order reaches exactly the rows, with exactly the movements that the rows allow.
 */

const declaration = await readDeclaration(fileURLToPath(new URL('../../migrations/kinds', import.meta.url)))

interface Reached {
  readonly step: string
  readonly from: string
  readonly to: string
  readonly events: readonly LedgerEvent[]
}

/** One line per transition: step, states, events. */
function lineOf({ step, from, to, events }: Reached): string {
  return `${step}: ${from} > ${to} {${events.map(({ kind }) => kind).join()}}`
}

function lineOfRow({ step, fromState, toState, eventKinds }: Step): string {
  return `${step}: ${fromState} > ${toState} {${eventKinds.join()}}`
}

function classOf(account: string): string {
  const isOf = ({ prefix, isExact }: AccountClass) => (isExact ? account === prefix : account.startsWith(prefix))
  return declaration.classes.find(isOf)?.class ?? account
}

function moveOf({ debit, credit }: Posting): string {
  return `${classOf(debit)}>${classOf(credit)}`
}

/** The transitions that were reached, each with the movements seen in it. */
type Walked = Map<string, Set<string>>

function note(walked: Walked, reached: Reached): void {
  const moves = walked.get(lineOf(reached)) ?? new Set()
  for (const posting of reached.events.flatMap((event) => ledgerCodec.postingsOf(event))) moves.add(moveOf(posting))
  walked.set(lineOf(reached), moves)
}

const leaseMs = 1_000
const commands = [
  ...(['submit', 'claim', 'start', 'break', 'fulfil', 'release', 'expire'] as const),
  ...(['finalize', 'reverse', 'refund', 'unmatch', 'deliver'] as const),
]
type Command = (typeof commands)[number]

interface Moment {
  readonly settlement: Settlement
  readonly nowMs: number
  readonly attemptsMax: number
  /** The tab of a deposit, or a charge below the hold. */
  readonly more?: Pick<attempt.FulfilCommand, 'deposit' | 'charged'>
}

function decide(state: payment.PaymentState, kind: Command, { settlement, nowMs, attemptsMax, more }: Moment) {
  const { wallet, price } = settlement
  const { endpoint } = price
  const attemptId = 'attemptId' in state ? state.attemptId : 'attempt'
  switch (kind) {
    case 'submit':
      return decideSubmit(state, { wallet, endpoint, quoteId: undefined, transactionBase64: 'AQ==' })
    case 'claim': {
      const claim = { order: { ...order, wallet, endpoint }, settlement, attemptId, leaseMs, attemptsMax, nowMs }
      const decision = attempt.decideClaim(state, claim)
      return isRefusal(decision) ? undefined : decision
    }
    case 'start':
      return attempt.decideStart(state, attemptId)
    case 'break':
      return attempt.decideBreak(state, { attemptId, bytes: 1, digest: '', attemptsMax })
    case 'fulfil':
      return attempt.decideFulfil(state, { attemptId, orderDigest: order.digest, answerDigest: '', ...more })
    case 'release':
      return attempt.decideRelease(state, { attemptId, reason: 'no_data', attemptsMax })
    case 'expire':
      return decideExpiry(state, { nowMs, attemptsMax })
    case 'finalize':
      return decideFinality(state, { kind: 'finalized', slot: 1 })
    case 'reverse':
      return decideFinality(state, { kind: 'reversed', reason: 'absent', finalizedSlot: 1, prepaidBaseUnits: 1n })
    case 'refund':
      return decideRefund(state)
    case 'unmatch':
      return decideUnmatched(state, { wallet, mint, receivedBaseUnits: 1n, slot: 1 })
    case 'deliver':
      return decideDelivery(state, { wallet, mint, receivedBaseUnits: 1n, slot: 1 }, { wallet, mint })
    default:
      return assertNever(kind)
  }
}

/** With a live lease and with one that has ended, each before the last permitted attempt and as that attempt. */
function variants(kind: Command) {
  return [0, leaseMs].flatMap((nowMs) => [1, 1_000].map((attemptsMax) => [kind, nowMs, attemptsMax] as const))
}

/** Every command in every state that commands lead to. */
function walkFrom(
  settlement: Settlement,
  walked: Walked,
  { except = [], ...more }: Moment['more'] & { readonly except?: readonly Command[] } = {},
): void {
  const taken = commands.filter((command) => !except.includes(command))
  const known = new Set<string>()
  const open: payment.PaymentState[] = [payment.unknownPayment]
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const from = payment.stateName(state)
    for (const [kind, nowMs, attemptsMax] of taken.flatMap(variants)) {
      const decision = decide(state, kind, { settlement, nowMs, attemptsMax, more })
      if (decision === undefined) continue
      const after = payment.evolveAll(state, decision.events, 0)
      const to = payment.stateName(after)
      note(walked, { ...decision, from, to })
      if (!known.has(to)) open.push(after)
      known.add(to)
    }
  }
}

function walkPayments(): Walked {
  const walked: Walked = new Map()
  fc.assert(fc.property(anySettlement, (settlement) => walkFrom(settlement, walked)))
  for (const tab of [
    { tab: tabId, terms: tabTerms },
    { tab: tabId, terms: undefined },
  ])
    // The answer to a deposit is never streamed.
    walkFrom(depositSettlement, walked, { deposit: tab, except: ['start'] })
  return walked
}

const tabId = '4uQeVj5tqViQh7yWWGStvk'
const tabTerms = {
  sessionKey: order.wallet,
  bearerHash: undefined,
  maxPerRequestBaseUnits: 9n,
  maxPerDayBaseUnits: undefined,
  endsAtMs: 1,
}
const deposited = settlementOf(referenceNumber(1))
const { requiredBaseUnits } = deposited.price
const depositSettlement: Settlement = {
  ...deposited,
  memo: 'tollbook:x',
  price: { ...deposited.price, burnBaseUnits: 0n, shares: [{ account: 'prepaid', baseUnits: requiredBaseUnits }] },
  burnedBaseUnits: 0n,
  // Something beyond the price, which a reversal takes back as well.
  receivedBaseUnits: requiredBaseUnits + 1n,
}

function walkDebits(): Walked {
  const walked: Walked = new Map()
  const signed = {
    sessionKey: order.wallet,
    maxBaseUnits: 9n,
    validUntilMs: 9,
    requestDigest: 'ab'.repeat(32),
    signature: '',
  }
  const facts = { tab: tabId, number: 1n, deposit: deposited.reference, bearerHash: undefined, lifecycle: 0 }
  const settlement: Settlement = {
    ...deposited,
    reference: tabRequestReference(tabId, 1n),
    priceList: 1,
    burnedBaseUnits: 0n,
    receivedBaseUnits: requiredBaseUnits,
    debit: { ...facts, signed, orderDigest: order.digest },
  }
  // No transaction of the chain belongs to a debit.
  const except = ['submit', 'unmatch', 'deliver'] as const
  const inDollars = (baseUnits: bigint) => ({
    requiredBaseUnits: baseUnits,
    ...split(baseUnits, dollarSplit(defaultSplit)),
  })
  const tokenBurn = { mint, baseUnits: 3n }
  for (const [held, charged] of [
    [{}, { requiredBaseUnits: 10n, ...split(10n, defaultSplit) }],
    [inDollars(requiredBaseUnits), inDollars(10n)],
    [
      { ...inDollars(requiredBaseUnits), tokenBurn },
      { ...inDollars(10n), tokenBurn },
    ],
  ] as const) {
    const debit = { ...settlement, price: { ...deposited.price, ...held } }
    walkFrom(debit, walked, { except })
    walkFrom(debit, walked, { charged, except })
  }
  return walked
}

function walkLifecycles(): Walked {
  const walked: Walked = new Map()
  const tab = { id: tabId, wallet: order.wallet, mint }
  const known = new Set<string>()
  const open: TabLifecycle[] = [newLifecycle]
  for (let lifecycle = open.pop(); lifecycle !== undefined; lifecycle = open.pop()) {
    const living = { ...tab, lifecycle, deposits: [] }
    const reversed = { reference: deposited.reference, baseUnits: 2n, effectiveAtMs: 0, standing: 'reversed' } as const
    const dropped = { ...living, deposits: [{ ...reversed, lostBaseUnits: 2n }] }
    const keys = { sessionKey: order.wallet, bearerHash: undefined }
    const closing = [decideClose(living, 'end', 1n), decideReturn(living, 1n), decideReturn(dropped, 1n)]
    for (const decision of [decideKeys(living, keys), ...closing]) {
      if (decision === undefined) continue
      const after = evolveLifecycle(lifecycle, decision.events[0])
      note(walked, { ...decision, from: lifecycleName(lifecycle), to: lifecycleName(after) })
      if (!known.has(lifecycleName(after))) open.push(after)
      known.add(lifecycleName(after))
    }
  }
  return walked
}

function walkBurns(): Walked {
  const walked: Walked = new Map()
  const parts = [{ endpoint: '/api/x', baseUnits: 3n }]
  const delegate = { allowanceBaseUnits: 3n, lamports: 50_000n }
  const submit = { round: 1, mint, throughPosition: 9, parts, lastValidHeight: 9, delegate, transactionBase64: '' }
  const nameOf = ({ phase }: BurnState) => (phase === 'unknown' ? '' : phase)
  const commandsOf = (state: BurnState) => [
    decideBurnSubmit(state, submit),
    decideBurnConfirm(state, { burnedBaseUnits: 3n, slot: 1 }),
    decideBurnFail(state, { reason: 'absent', finalizedSlot: 1 }),
  ]
  const open: BurnState[] = [unknownBurn]
  for (let state = open.pop(); state !== undefined; state = open.pop())
    for (const decision of commandsOf(state)) {
      if (decision === undefined) continue
      const after = decision.events.reduce(evolveBurn, state)
      note(walked, { ...decision, from: nameOf(state), to: nameOf(after) })
      open.push(after)
    }
  return walked
}

function walkRefunds(): Walked {
  const walked: Walked = new Map()
  const settlement = sampleSettlement()
  const { wallet } = settlement
  const decider = { by: 'mira', role: 'finance', login: 'desk', reason: 'asked' } as const
  const common = { payment: settlement.reference, decider, limits: { finance: 10n ** 9n, support: 0n } }
  const debts = [{ account: `Liabilities:Overpaid:${wallet}`, baseUnits: 1n }]
  const delivered = {
    phase: 'fulfilled',
    version: 5,
    settlement,
    attempt: 1,
    endpoint: '/x',
    isFinal: true,
  } as const
  const approve = () => decideApproval({ ...common, wallet, mint: settlement.price.mint, debts, value: undefined })
  const grant = (before: RefundState) => decideGrant({ ...common, state: delivered, before, amountBaseUnits: 1n })
  for (const order of [
    [approve, approve, grant, approve, grant],
    [grant, grant, approve],
  ]) {
    let state = noRefund
    for (const decide of order) {
      const decision = decide(state)
      if (typeof decision === 'string') continue
      const after = evolveRefund(state, decision.event)
      note(walked, { step: decision.step, events: [decision.event], from: state.phase, to: after.phase })
      state = after
    }
  }
  return walked
}

function walkSettings(): Walked {
  const walked: Walked = new Map()
  const split = [{ account: 'provider', perMille: 1_000 }]
  const list = { kind: 'PriceListPublished', source: 'fixed', split, prices: [] } as const
  for (const newest of [undefined, { number: 1, event: { ...list, source: 'market' } }, { number: 1, event: list }]) {
    const decision = decidePriceList(newest, list)
    if (decision !== undefined) note(walked, { ...decision, from: '', to: 'published' })
  }
  const value = { name: 'payment-wallet', value: 'a' }
  const first = decideFirstSetting(0, value, 0)
  const periods = periodsOf((first?.events ?? []).map((event) => ({ position: 1, event })))
  const change = {
    ...value,
    name: 'payment-wallet',
    value: 'b',
    validFromMs: undefined,
    overlapMs: 0,
    nowMs: 0,
  } as const
  const second = decideSettingChange(periods, change)
  assert(second.verdict === 'change', 'the operator changes a setting')
  for (const decision of [first, second.decision])
    if (decision !== undefined) note(walked, { ...decision, from: '', to: 'set' })
  return walked
}

function rowsOf(...kinds: readonly string[]): readonly Step[] {
  return declaration.steps.filter(({ kind }) => kinds.includes(kind))
}

/** The rows and the walk, in one form. A movement of nothing is never posted, so a row may allow what no amount needs. */
function compare(walked: Walked, rows: readonly Step[]): void {
  expect([...walked.keys()].toSorted()).toEqual(rows.map(lineOfRow).toSorted())
  for (const row of rows) expect([...(walked.get(lineOfRow(row)) ?? [])].toSorted()).toEqual(row.moves.toSorted())
}

test('the deciders of payments reach exactly the steps, states, events and movements that the ledger allows', () => {
  compare(walkPayments(), rowsOf('payment'))
})

test('the deciders of debits and of the lifecycles of tabs reach exactly the steps that the ledger allows', () => {
  compare(walkDebits(), rowsOf('tab_request'))
  compare(walkLifecycles(), rowsOf('tab_lifecycle'))
})

test('the deciders of burns reach exactly the steps that the ledger allows', () => {
  compare(walkBurns(), rowsOf('burn'))
})

test('the deciders of refunds reach exactly the steps that the ledger allows', () => {
  compare(walkRefunds(), rowsOf('refund'))
})

test('the deciders of price lists and settings reach exactly the steps that the ledger allows', () => {
  compare(walkSettings(), rowsOf('price_list', 'setting'))
})

test('a lease is taken by each step into an attempt and by no other, and ended attempts alone are taken over or expire', () => {
  for (const { step, toState, lease, afterLease, fromState, eventKinds } of rowsOf('payment')) {
    expect(lease === 'take').toBe(/^(?:claimed|streaming)/.test(toState))
    expect(afterLease).toBe(step === 'payment.expire' || eventKinds.join() === 'RequestFailed,ProofClaimed')
    if (afterLease) expect(fromState).toMatch(/^(?:claimed|streaming)/)
  }
})

test('a payout moves tokens out of the accounts that are payable, and out of no other', () => {
  const [row] = rowsOf('payout')
  const payable = ['share', 'overpaid', 'refund', 'unmatched'].map((name) => `${name}>wallet`)
  expect(row?.moves.toSorted()).toEqual(payable.toSorted())
})
