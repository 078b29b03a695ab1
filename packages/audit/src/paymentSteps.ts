import type { DeclaredStep } from './declaration.ts'

/* The steps of a payment: which events may be appended in which state, and what they may move. */

type Options = Partial<Pick<DeclaredStep, 'moves' | 'takesLease' | 'isAfterLease'>>

function step(
  name: string,
  [from, to]: readonly [from: string, to: string],
  events: readonly string[],
  options: Options = {},
): DeclaredStep {
  const nothing = {
    moves: [],
    takesLease: false,
    isAfterLease: false,
    writer: 'service',
    numberMax: undefined,
  } as const
  return { kind: 'payment', step: `payment.${name}`, from, to, events, ...nothing, ...options }
}

/** The same in a payment that the chain can no longer drop; exposure moves only before. */
function untilFinality(
  name: string,
  [from, to]: readonly [from: string, to: string],
  events: readonly string[],
  options: Options = {},
): readonly DeclaredStep[] {
  const moves = (options.moves ?? []).filter((move) => !move.includes('exposed'))
  return [
    step(name, [from, to], events, options),
    step(name, [`${from}.final`, `${to}.final`], events, { ...options, moves }),
  ]
}

const expose = 'exposed>exposed_contra'
const unexpose = 'exposed_contra>exposed'
const burned = ['wallet>unearned', 'wallet>overpaid', 'burned>burned_by_callers', expose]
const owed = ['wallet>unearned', 'wallet>overpaid', 'unearned>burn_owed', expose]
const takeLease = { takesLease: true }
const takeOver = { takesLease: true, isAfterLease: true, moves: [unexpose, expose] }
const fulfilment = ['RequestFulfilled', 'DistributionAllocated']
const toShares = { moves: ['unearned>share'] }

function reversal(from: string, taken: string, unexposed: readonly string[]): readonly DeclaredStep[] {
  const own = [`${taken}>wallet`, 'overpaid>wallet', ...unexposed]
  const withBurn = ['PaymentReversed', 'BurnReversed']
  return [
    step('reverse', [from, 'reversed'], withBurn, { moves: [...own, 'burned_by_callers>burned'] }),
    step('reverse', [from, 'reversed'], ['PaymentReversed'], { moves: [...own, 'burn_owed>wallet'] }),
  ]
}

export const paymentSteps: readonly DeclaredStep[] = [
  step('submit', ['', 'submitted'], ['PaymentSubmitted']),
  ...['', 'submitted'].flatMap((from) => [
    step('claim', [from, 'claimed'], ['PaymentVerified', 'TokensBurned', 'ProofClaimed'], {
      ...takeLease,
      moves: burned,
    }),
    step('claim', [from, 'claimed'], ['PaymentVerified', 'BurnOwed', 'ProofClaimed'], { ...takeLease, moves: owed }),
    step('unmatch', [from, 'unmatched'], ['TransferReceived'], { moves: ['wallet>unmatched'] }),
  ]),
  ...untilFinality('claim', ['released', 'claimed'], ['ProofClaimed'], { ...takeLease, moves: [expose] }),
  ...untilFinality('claim', ['claimed', 'claimed'], ['RequestFailed', 'ProofClaimed'], takeOver),
  ...untilFinality('claim', ['streaming', 'claimed'], ['RequestFailed', 'ProofClaimed'], takeOver),
  ...untilFinality('start', ['claimed', 'streaming'], ['AnswerStarted'], takeLease),
  ...untilFinality('fulfil', ['claimed', 'fulfilled'], fulfilment, toShares),
  ...untilFinality('fulfil', ['streaming', 'fulfilled'], fulfilment, toShares),
  ...untilFinality('release', ['claimed', 'released'], ['RequestFailed'], { moves: [unexpose] }),
  ...untilFinality('release', ['streaming', 'released'], ['RequestFailed'], { moves: [unexpose] }),
  ...untilFinality('release', ['streaming', 'released'], ['AnswerBroken'], { moves: [unexpose] }),
  step('finalize', ['released', 'released.final'], ['PaymentFinalized']),
  step('finalize', ['fulfilled', 'fulfilled.final'], ['PaymentFinalized'], { moves: [unexpose] }),
  ...reversal('released', 'unearned', []),
  ...reversal('fulfilled', 'lost', [unexpose]),
  step('refund', ['released.final', 'refund_due'], ['RefundDue'], { moves: ['unearned>refund'] }),
  step('unmatch', ['reversed', 'unmatched'], ['TransferReceived'], { moves: ['wallet>unmatched'] }),
]
