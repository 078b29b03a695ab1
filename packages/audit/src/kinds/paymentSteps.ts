import type { AuditedStream } from '../auditedStream.ts'
import { declareStep, type DeclaredStep } from '../declaredKind.ts'

/* Declares the steps of a payment: the events that each state permits, and the account moves of each step. */

interface PaymentStep extends Partial<DeclaredStep> {
  /** States before and after the step. '': the payment does not exist yet. */
  readonly states: readonly [from: string, to: string]
  readonly events: readonly string[]
}

function step(name: string, { states, ...given }: PaymentStep): DeclaredStep {
  const [from, to] = states
  return declareStep({ step: `payment.${name}`, from, to, ...given })
}

const hasBurned = (row: AuditedStream): boolean => !row.isPaidWhole && !isDepositRow(row)
const hasSentWhole = (row: AuditedStream): boolean => row.isPaidWhole && !isDepositRow(row)
const hasNotBurned = (row: AuditedStream): boolean => !hasBurned(row)

/** True for the price of a deposit on a tab. The whole amount is prepaid, and nothing is burned. */
export function isDeposit({ endpoint, burnBaseUnits, sharesText, requiredBaseUnits }: PricedDeposit): boolean {
  const isTab = endpoint === '/api/tabs' || endpoint.startsWith('/api/tabs#')
  return isTab && burnBaseUnits === 0n && sharesText === `prepaid ${requiredBaseUnits}`
}

interface PricedDeposit {
  readonly endpoint: string
  readonly burnBaseUnits: bigint
  readonly sharesText: string
  readonly requiredBaseUnits: bigint
}

const hasPromised = ({ tokenBurnMint }: AuditedStream): boolean => tokenBurnMint !== ''
/** True if the delivery owes a burn: the burn of the price, or a burn in the service token for a price in dollars. */
const owesBurn = (row: AuditedStream): boolean => (row.isPaidWhole && row.burnBaseUnits > 0n) || hasPromised(row)
const isDepositRow = (row: AuditedStream): boolean => isDeposit({ ...row, sharesText: row.shares })
// Exclude deposits. If a deposit were allocated to shares, the operator could pay its `prepaid` part to itself.
const owesNothing = (row: AuditedStream): boolean => !owesBurn(row) && !isDepositRow(row)

/** Declares the step before and after finality. A final payment is not exposed to a fork, so it has no exposure moves. */
function beforeAndAfterFinality(name: string, given: PaymentStep): readonly DeclaredStep[] {
  const [from, to] = given.states
  const moves = (given.moves ?? []).filter((move) => !move.includes('exposed'))
  return [step(name, given), step(name, { ...given, states: [`${from}.final`, `${to}.final`], moves })]
}

const expose = 'exposed>exposed_contra'
const unexpose = 'exposed_contra>exposed'
const burnedInside = ['PaymentVerified', 'TokensBurned', 'ProofClaimed']
const withoutBurn = ['PaymentVerified', 'ProofClaimed']
const fulfilled = ['RequestFulfilled', 'DistributionAllocated']
const burnOwed = ['RequestFulfilled', 'BurnOwed', 'DistributionAllocated']
const received = ['wallet>unearned', 'wallet>overpaid', expose]

/** Declares the first steps of a payment. `from` is 'submitted' if the service sent the transaction. */
function firstSteps(from: '' | 'submitted'): readonly DeclaredStep[] {
  const claim = { states: [from, 'claimed'], takesLease: true } as const
  const unmatch = { states: [from, 'unmatched'], events: ['TransferReceived'], moves: ['wallet>unmatched'] } as const
  return [
    step('claim', {
      ...claim,
      events: burnedInside,
      moves: [...received, 'burned>burned_by_callers'],
      when: hasBurned,
    }),
    step('claim', { ...claim, events: withoutBurn, moves: received, when: hasNotBurned }),
    step('unmatch', unmatch),
    ...(from === ''
      ? [step('unmatch', { states: ['', 'unmatched'], events: ['TokensDelivered'], moves: ['wallet>to_deliver'] })]
      : []),
  ]
}

function takeOver(from: 'claimed' | 'streaming'): readonly DeclaredStep[] {
  const events = ['RequestFailed', 'ProofClaimed']
  const lease = { takesLease: true, isAfterLease: true }
  return beforeAndAfterFinality('claim', { states: [from, 'claimed'], events, moves: [unexpose, expose], ...lease })
}

function fulfil(from: 'claimed' | 'streaming'): readonly DeclaredStep[] {
  const states = [from, 'fulfilled'] as const
  const moves = ['unearned>share']
  return [
    ...beforeAndAfterFinality('fulfil', { states, events: fulfilled, moves, when: owesNothing }),
    ...beforeAndAfterFinality('fulfil', {
      states,
      events: burnOwed,
      moves: ['unearned>burn_owed', 'to_deliver>burn_owed', ...moves],
      when: owesBurn,
    }),
  ]
}

/** A deposit has no streamed answer, so it is delivered only from `claimed`. */
const deposit = ['TabOpened', 'TabToppedUp'].flatMap((event) =>
  beforeAndAfterFinality('fulfil', {
    states: ['claimed', 'fulfilled'],
    events: ['RequestFulfilled', event],
    moves: ['unearned>prepaid'],
    when: isDepositRow,
  }),
)

function release(from: 'claimed' | 'streaming', event: 'RequestFailed' | 'AnswerBroken'): readonly DeclaredStep[] {
  return beforeAndAfterFinality('release', { states: [from, 'released'], events: [event], moves: [unexpose] })
}

/**
 * Declares the steps after the last attempt has failed. A refund is due only when the payment is final, because the
 * chain may drop the payment before.
 */
function exhaust(from: 'claimed' | 'streaming', event: 'RequestFailed' | 'AnswerBroken'): readonly DeclaredStep[] {
  const events = [event, 'AttemptsExhausted']
  return [
    step('exhaust', { states: [from, 'exhausted'], events, moves: [unexpose] }),
    step('exhaust', {
      states: [`${from}.final`, 'refund_due'],
      events: [...events, 'RefundDue'],
      moves: ['unearned>refund'],
    }),
  ]
}

/** Declares the steps after the lease has expired. The database clock decides when this is the case. */
function expire(from: 'claimed' | 'streaming'): readonly DeclaredStep[] {
  return [...release(from, 'RequestFailed'), ...exhaust(from, 'RequestFailed')].map((ending) => {
    return { ...ending, step: 'payment.expire', isAfterLease: true }
  })
}

function reverse(from: string, own: readonly string[], ofOwedBurn: readonly string[] = []): readonly DeclaredStep[] {
  const states = [from, 'reversed'] as const
  const moves = [...own, 'overpaid>wallet']
  return [
    step('reverse', {
      states,
      events: ['PaymentReversed', 'BurnReversed'],
      moves: [...moves, 'burned_by_callers>burned'],
      when: hasBurned,
    }),
    step('reverse', {
      states,
      events: ['PaymentReversed'],
      moves: [...moves, ...ofOwedBurn],
      when: (row) =>
        (hasSentWhole(row) && (from !== 'fulfilled' || !hasPromised(row))) ||
        (isDepositRow(row) && row.state !== 'fulfilled'),
    }),
    ...(from === 'fulfilled'
      ? [
          step('reverse', {
            states,
            events: ['PaymentReversed', 'BurnOwedReversed'],
            moves: [...moves, 'burn_owed>to_deliver'],
            when: hasPromised,
          }),
        ]
      : []),
  ]
}

export const paymentSteps: readonly DeclaredStep[] = [
  step('submit', { states: ['', 'submitted'], events: ['PaymentSubmitted'] }),
  ...firstSteps(''),
  ...firstSteps('submitted'),
  ...beforeAndAfterFinality('claim', {
    states: ['released', 'claimed'],
    events: ['ProofClaimed'],
    moves: [expose],
    takesLease: true,
  }),
  ...takeOver('claimed'),
  ...takeOver('streaming'),
  ...beforeAndAfterFinality('start', { states: ['claimed', 'streaming'], events: ['AnswerStarted'], takesLease: true }),
  ...fulfil('claimed'),
  ...fulfil('streaming'),
  ...deposit,
  ...release('claimed', 'RequestFailed'),
  ...release('streaming', 'AnswerBroken'),
  ...exhaust('claimed', 'RequestFailed'),
  ...exhaust('streaming', 'AnswerBroken'),
  ...expire('claimed'),
  ...expire('streaming'),
  step('finalize', {
    states: ['exhausted', 'refund_due'],
    events: ['PaymentFinalized', 'RefundDue'],
    moves: ['unearned>refund'],
  }),
  step('finalize', { states: ['released', 'released.final'], events: ['PaymentFinalized'] }),
  step('finalize', { states: ['fulfilled', 'fulfilled.final'], events: ['PaymentFinalized'], moves: [unexpose] }),
  ...reverse('released', ['unearned>wallet']),
  ...reverse('exhausted', ['unearned>wallet']),
  ...reverse('fulfilled', ['lost>wallet', unexpose], ['burn_owed>wallet']),
  step('reverse', {
    states: ['fulfilled', 'reversed'],
    events: ['PaymentReversed', 'DepositReversed'],
    moves: ['lost>wallet', 'overpaid>wallet', 'prepaid>lost', unexpose],
    when: isDepositRow,
  }),
  step('refund', { states: ['released.final', 'refund_due'], events: ['RefundDue'], moves: ['unearned>refund'] }),
  step('unmatch', { states: ['reversed', 'unmatched'], events: ['TransferReceived'], moves: ['wallet>unmatched'] }),
]
