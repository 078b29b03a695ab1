import { expect, test } from 'vitest'
import { classOf } from '@tollbook/audit/accountClass'
import type { DeclaredStep } from '@tollbook/audit/declaredKind'
import { paymentSteps as allSteps } from '@tollbook/audit/kinds/paymentSteps'
import {
  allocated,
  burn,
  burnOwed,
  claimed,
  dollarPrice,
  exposed,
  failed,
  type Fields,
  fulfilled,
  listed,
  notExposed,
  over,
  owed,
  price,
  reference,
  type ReplayedLedger,
  required,
  settlement,
  tokensBurned,
  wallet,
  wholePrice,
} from './replayedLedger.ts'

/*
 * The auditor states the lifecycle of a payment twice: as steps, to compare with the rows of the database, and as a
 * rule for each event. Walking the steps shows that every step is possible by the rules, leads to its state, and moves
 * what it says.
 */

// The steps of deposits are audited in test/tabs/tab.e2e.test.ts.
const isOfDeposit = (event: string) => event.startsWith('Tab') || event === 'DepositReversed'
const paymentSteps = allSteps.filter(({ events }) => !events.some(isOfDeposit))

/** State on which the fields of the next events depend. */
interface Walk {
  readonly steps: readonly DeclaredStep[]
  readonly state: string
  readonly attempt: number
  /** The payer sent the whole price. */
  readonly isPaidWhole: boolean
  /** The price is in dollars, and its sale owes a burn in the token. */
  readonly isInDollars: boolean
}

const { endpoint } = price
const start: Walk = { steps: [], state: '', attempt: 0, isPaidWhole: false, isInDollars: false }
const inDollars = settlement({ price: dollarPrice, burnedBaseUnits: '0', receivedBaseUnits: '10011' })

function after(walk: Walk, step: DeclaredStep): Walk {
  return {
    ...walk,
    steps: [...walk.steps, step],
    state: step.to,
    attempt: walk.attempt + Number(step.events.includes('ProofClaimed')),
    isPaidWhole: walk.isPaidWhole || isFirstWithoutBurn(step),
  }
}

function isFirstWithoutBurn({ events }: DeclaredStep): boolean {
  return events.includes('PaymentVerified') && !events.includes('TokensBurned')
}

function fieldsOf(kind: string, before: Walk, step: DeclaredStep): Fields {
  const { state, isPaidWhole, isInDollars } = before
  const { mint } = isInDollars ? dollarPrice : price
  const [none, all] = isInDollars
    ? [
        { mint, exposedBaseUnits: '0' },
        { mint, exposedBaseUnits: '10000' },
      ]
    : [notExposed, exposed]
  const exposure = state.endsWith('.final') ? none : all
  const isServed = state.startsWith('fulfilled')
  const live = { attempt: before.attempt, attemptId: `attempt_${before.attempt}` }
  const next = { attempt: before.attempt + 1, attemptId: `attempt_${before.attempt + 1}` }
  const held = isInDollars ? 10_000 : isPaidWhole && !isServed ? required : owed
  const isDead = state.startsWith('streaming') || step.isAfterLease
  const known: Readonly<Record<string, Fields>> = {
    PaymentSubmitted: { wallet, endpoint, quoteId: null, transactionBase64: 'AA==' },
    PaymentVerified: isInDollars ? inDollars : isFirstWithoutBurn(step) ? wholePrice : settlement(),
    TokensBurned: tokensBurned,
    BurnOwed: isInDollars ? { ...burnOwed, source: 'treasury' } : burnOwed,
    BurnOwedReversed: burnOwed,
    ProofClaimed: { ...claimed, ...next, ...exposure },
    AnswerStarted: live,
    AnswerBroken: { ...live, ...exposure, bytes: 12, digest: 'ef' },
    RequestFailed: { ...failed, ...live, ...exposure, reason: isDead ? 'lease_expired' : 'no_data' },
    AttemptsExhausted: { attempts: before.attempt },
    RequestFulfilled: { ...fulfilled, ...live },
    DistributionAllocated: isInDollars ? { mint, parts: dollarPrice.shares } : allocated,
    PaymentFinalized: { slot: 100, ...(isServed ? all : none) },
    PaymentReversed: {
      reason: 'absent',
      finalizedSlot: 500,
      wallet,
      endpoint,
      ...(isServed ? all : none),
      unearnedBaseUnits: isServed ? '0' : String(held),
      lostBaseUnits: isServed ? String(held) : '0',
      overpaidBaseUnits: String(over),
      burnOwedBaseUnits: isPaidWhole && isServed && !isInDollars ? String(burn) : '0',
    },
    BurnReversed: tokensBurned,
    RefundDue: { wallet, mint, refundBaseUnits: String(held) },
    TokensDelivered: { wallet, mint: price.mint, receivedBaseUnits: '400', slot: 700 },
    TransferReceived: { wallet, mint, receivedBaseUnits: '400', slot: 700 },
  }
  return known[kind] ?? {}
}

/** Every lease has ended before the next step. */
const longerThanLeaseMs = 120_000

function replayOf({ steps, isInDollars }: Walk): ReplayedLedger {
  const ledger = listed()
  let before: Walk = { ...start, isInDollars }
  for (const step of steps) {
    const events = step.events.map((kind) => [kind, fieldsOf(kind, before, step)] as const)
    ledger.wait(longerThanLeaseMs).append(reference, ...events)
    before = after(before, step)
  }
  return ledger
}

function mayTake({ state, isPaidWhole, isInDollars }: Walk, { from, events }: DeclaredStep): boolean {
  if (from !== state || (isInDollars && events.includes('TokensBurned'))) return false
  const isPromised = isInDollars && state.startsWith('fulfilled')
  if (events.includes('PaymentReversed') && events.includes('BurnOwedReversed') !== isPromised) return false
  if (events.includes('PaymentReversed')) return events.includes('BurnReversed') !== isPaidWhole
  if (events.includes('RequestFulfilled')) return events.includes('BurnOwed') === isPaidWhole
  return true
}

/** For each step one walk to it with each kind of burn before it, the shortest first. */
function walkAll(): ReadonlyMap<DeclaredStep, readonly Walk[]> {
  const walks = new Map<DeclaredStep, Walk[]>()
  const seen = new Set<string>()
  const open = [start, { ...start, isInDollars: true }]
  for (let walk = open.shift(); walk !== undefined; walk = open.shift()) {
    const key = `${walk.state} ${walk.isPaidWhole} ${walk.isInDollars}`
    if (seen.has(key)) continue
    seen.add(key)
    for (const step of paymentSteps.filter((candidate) => walk !== undefined && mayTake(walk, candidate))) {
      const next = after(walk, step)
      walks.set(step, [...(walks.get(step) ?? []), next])
      open.push(next)
    }
  }
  return walks
}

const walks = walkAll()

test('every step of a payment can be reached from its beginning', () => {
  expect(paymentSteps.filter((step) => !walks.has(step))).toEqual([])
})

test.each([...walks].map(([step, ways]) => [step.step, step.from, step.events.join(), { step, ways }] as const))(
  '%s from "%s" with %s follows the rules, ends in its state and moves what it declares',
  (_, __, ___, { step, ways }) => {
    const moved = ways.flatMap((walk) => {
      const ledger = replayOf(walk)
      expect(ledger.findings()).toEqual([])
      expect(ledger.replay.streams.find(reference)?.state).toBe(step.to)
      const moves = ledger.events.slice(-step.events.length).flatMap(({ postings }) => postings())
      return moves.map(([debit, credit]) => `${classOf(debit)?.class}>${classOf(credit)?.class}`)
    })
    expect([...new Set(moved)].toSorted()).toEqual(step.moves.toSorted())
  },
)
