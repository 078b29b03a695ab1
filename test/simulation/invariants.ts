import { assertPresent } from '@tollbook/core/assert'
import { sha256Hex } from '@tollbook/core/digest'
import type { RecordedEvent } from '@tollbook/ledger/port'
import { streamKey } from '@tollbook/ledger/readEvents'
import { accounts } from '../../src/accounting/account.ts'
import { type PaymentEvent, paymentCodec } from '../../src/payment/events.ts'
import { evolve, type PaymentState, unknownPayment } from '../../src/payment/payment.ts'
import { transactionSpace, transactionReference, streamIdOf } from '../../src/payment/paymentReference.ts'
import { textOf } from '../../src/store/paymentItem.ts'
import { isFinalRefusal, type Reply } from './history.ts'
import { proofMaxAgeMs } from './instance.ts'
import type { SimulatedTransaction } from './simulatedChain.ts'
import { epochMs, type World } from './world.ts'

/** Invariants of a run: some after each step, the rest at the end. */
export interface InvariantChecks {
  afterStep(): void
  atEnd(): void
}

interface Seen {
  readonly recorded: readonly RecordedEvent[]
  readonly events: readonly PaymentEvent[]
  readonly payment: PaymentState
}

interface Checks {
  readonly world: World
  /** Payments of the ledger, by stream. */
  readonly payments: Map<string, Seen>
  judgedTo: number
  repliedTo: number
  ranTo: number
}

export function createInvariantChecks(world: World): InvariantChecks {
  const checks: Checks = { world, payments: new Map(), judgedTo: 0, repliedTo: 0, ranTo: 0 }
  return {
    afterStep() {
      const isChanged = followLedger(checks)
      if (isChanged) checkBalances(checks)
      checkRuns(checks)
      checkReplies(checks)
    },
    atEnd() {
      for (const transaction of world.chain.transactions()) checkEnd(checks, transaction)
      checkChainAndLedger(checks)
    },
  }
}

function violate({ world: { history, time } }: Checks, sentence: string): void {
  history.violations.push(`${time.nowMs()} ms: ${sentence}`)
}

function paymentOf({ payments }: Checks, signature: SimulatedTransaction['signature']): Seen | undefined {
  return payments.get(streamKey(streamIdOf(transactionReference(signature))))
}

function followLedger(checks: Checks): boolean {
  const { postgres } = checks.world
  const from = checks.judgedTo
  checks.judgedTo = postgres.judged.length
  const appended = postgres.judged.slice(from).filter(({ result }) => result.outcome === 'appended')
  for (const { item } of appended) {
    if (item.stream[0] !== transactionSpace) continue
    const recorded = postgres.memory.readNow(item.stream)
    const key = streamKey(item.stream)
    const before = checks.payments.get(key)
    const added = recorded.slice(before?.events.length ?? 0).map(({ body, recordedAtMs }) => ({
      event: paymentCodec.decode(textOf(body)).event,
      recordedAtMs,
    }))
    const seen: Seen = {
      recorded,
      events: [...(before?.events ?? []), ...added.map(({ event }) => event)],
      payment: added.reduce(
        (state, { event, recordedAtMs }) => evolve(state, event, recordedAtMs),
        before?.payment ?? unknownPayment,
      ),
    }
    checks.payments.set(key, seen)
    checkStream(checks, seen)
    checkLease(checks, seen)
  }
  return appended.length > 0
}

function checkStream(checks: Checks, { events, payment }: Seen): void {
  const name = 'settlement' in payment ? payment.settlement.reference.slice(0, 13) : payment.phase
  const { trace } = checks.world
  trace(() => `${name} ${events.at(-1)?.kind} -> ${payment.phase}`)
  const count = (kind: PaymentEvent['kind']) => events.filter((event) => event.kind === kind).length
  if (count('RequestFulfilled') > 1) violate(checks, `I1: ${name} is fulfilled twice`)
  const attempts = events.flatMap((event) => (event.kind === 'ProofClaimed' ? [event.attempt] : []))
  if (attempts.some((attempt, n) => attempt !== n + 1))
    violate(checks, `I3: the attempts of ${name} are ${attempts.join(', ')}`)
}

/** The newest append ends no lease early. */
function checkLease(checks: Checks, { recorded, events, payment }: Seen): void {
  const newestMs = recorded.at(-1)?.recordedAtMs
  let leaseFromMs = 0
  let leaseMs = 0
  for (const [n, event] of events.entries()) {
    const atMs = assertPresent(recorded[n], 'each event is recorded').recordedAtMs
    const isEarly = event.kind === 'RequestFailed' && event.reason === 'lease_expired' && atMs - leaseFromMs < leaseMs
    if (isEarly && atMs === newestMs)
      violate(checks, `I3: a lease of version ${payment.version} ends ${leaseMs - atMs + leaseFromMs} ms early`)
    if (event.kind === 'ProofClaimed') leaseMs = event.leaseMs
    if (event.kind === 'ProofClaimed' || event.kind === 'AnswerStarted') leaseFromMs = atMs
  }
}

/** States in which the price of a payment counts as exposed. */
const exposedPhases: ReadonlySet<string> = new Set(['claimed', 'streaming', 'fulfilled'])

function checkBalances(checks: Checks): void {
  const { memory } = checks.world.postgres
  const { mint } = checks.world.chain.terms
  const sum = [...memory.balances().values()].reduce((total, balance) => total + balance, 0n)
  if (sum !== 0n) violate(checks, `I17: the balances of all accounts sum to ${sum}`)
  const exposed = [...checks.payments.values()].reduce((total, { payment }) => {
    const counts = 'settlement' in payment && exposedPhases.has(payment.phase) && !payment.isFinal
    return counts ? total + payment.settlement.price.requiredBaseUnits : total
  }, 0n)
  const recorded = memory.balance(mint, accounts.exposed)
  if (recorded !== exposed) violate(checks, `the exposure is ${recorded}, and the open payments are worth ${exposed}`)
}

/** I2: each run of a handler has a separate claim in the ledger. */
function checkRuns(checks: Checks): void {
  const { runs } = checks.world.history
  for (; checks.ranTo < runs.length; checks.ranTo++) {
    const run = assertPresent(runs[checks.ranTo], 'the run is recorded')
    if (run.signature === undefined) {
      violate(checks, 'I2: a handler runs without a payment')
      continue
    }
    const { signature } = run
    const claims = paymentOf(checks, signature)?.events.filter(({ kind }) => kind === 'ProofClaimed').length ?? 0
    const ran = runs.slice(0, checks.ranTo + 1).filter((other) => other.signature === signature).length
    if (ran > claims) violate(checks, `I2: ${ran} handler runs for ${claims} claims of ${signature.slice(0, 6)}`)
  }
}

function checkReplies(checks: Checks): void {
  const { replies } = checks.world.history
  for (; checks.repliedTo < replies.length; checks.repliedTo++) {
    const reply = assertPresent(replies[checks.repliedTo], 'the reply is recorded')
    if (reply.status === 200) checkAnswer(checks, reply)
    if (reply.status === 500) violate(checks, `I31: ${reply.body}`)
  }
}

/** I1, I26: one fulfilment, one answer, for its payer alone. */
function checkAnswer(checks: Checks, reply: Reply): void {
  const name = reply.signature.slice(0, 6)
  if (!reply.isHonest) violate(checks, `the answer for ${name} was sold to a thief`)
  const seen = paymentOf(checks, reply.signature)
  const fulfilled = seen?.events.find((event) => event.kind === 'RequestFulfilled')
  if (fulfilled === undefined) {
    violate(checks, `I26: ${name} has an answer and no fulfilment`)
    return
  }
  if (fulfilled.orderDigest !== reply.orderDigest) violate(checks, `I6: ${name} was fulfilled for another order`)
  const answer = reply.isStream ? reply.body : `{${reply.body.slice(reply.body.indexOf('"data":'))}`
  // A caller who leaves a stream has a part of the answer.
  const isWhole = !reply.isStream || reply.isReceived
  if (isWhole && fulfilled.answerDigest !== sha256Hex(answer))
    violate(checks, `I26: ${name} got other bytes than were sold`)
}

function checkEnd(checks: Checks, transaction: SimulatedTransaction): void {
  const { history, chain } = checks.world
  const { signature } = transaction
  const name = signature.slice(0, 6)
  const replies = history.replies.filter((reply) => reply.signature === signature && reply.isHonest)
  const runs = new Set(replies.flatMap(({ status, body }) => (status === 200 ? [/"run":(\d+)/.exec(body)?.[1]] : [])))
  if (runs.size > 1) violate(checks, `I1: ${name} bought ${runs.size} answers`)
  for (const refusal of replies.filter(isFinalRefusal)) {
    const why = whyUntrue(checks, transaction, refusal)
    if (why !== undefined) violate(checks, `I8: ${name} was refused as ${refusal.reason ?? refusal.code}: ${why}`)
  }
  const isDecided = replies.some((reply) => reply.status === 200 || isFinalRefusal(reply))
  const wasPresented = history.presentations.some((one) => one.signature === signature && one.isHonest)
  const phase = paymentOf(checks, signature)?.payment.phase ?? 'unknown'
  const isPaid = chain.finalSlot(signature) !== undefined && !transaction.fails
  // A signature that never lands stays "not found": only its wallet knows whether it was ever sent.
  if (isPaid && wasPresented && !isDecided) violate(checks, `${name} never got an answer or a final refusal`)
  const wanted = isPaid ? paidPhases : unpaidPhases
  if (!wanted.has(phase))
    violate(checks, `${name} ${isPaid ? 'stays on chain' : 'is not on chain'} and ends as ${phase}`)
}

const paidPhases: ReadonlySet<string> = new Set(['fulfilled', 'refund_due', 'unmatched'])
const unpaidPhases: ReadonlySet<string> = new Set(['unknown', 'submitted', 'reversed'])

/** Undefined when the refusal is true of the chain and the ledger at the end. */
function whyUntrue(checks: Checks, transaction: SimulatedTransaction, refusal: Reply): string | undefined {
  const { history, chain } = checks.world
  const { signature, fails } = transaction
  const landed = chain.finalSlot(signature)
  const phase = paymentOf(checks, signature)?.payment.phase
  const said: string = refusal.reason ?? refusal.code ?? ''
  switch (said) {
    case 'INSUFFICIENT_BALANCE':
    case 'transaction_failed':
    case 'simulation_failed':
      return fails ? undefined : 'the wallet could pay'
    case 'blockhash_expired':
    case 'payment_reversed':
      return landed === undefined || fails ? undefined : 'it stays on chain'
    case 'refund_due':
    case 'attempts_exhausted':
      if (phase === 'reversed' && landed === undefined) return undefined
      return phase === 'refund_due' ? undefined : `it is ${phase}`
    case 'already_used': {
      // Another order of the payer has bought the answer; it is kept for that order alone.
      const sold = paymentOf(checks, signature)?.events.find((event) => event.kind === 'RequestFulfilled')
      if (sold !== undefined && sold.orderDigest !== refusal.orderDigest) return undefined
      const wasSent = history.replies.some(
        (reply) => reply.signature === signature && reply.status === 200 && reply.repliedAtMs <= refusal.repliedAtMs,
      )
      return wasSent ? undefined : 'no answer was sent before'
    }
    case 'too_old': {
      const first = history.presentations.find((one) => one.signature === signature && one.isHonest)
      const presentedAtMs = assertPresent(first, 'a reply has a presentation').presentedAtMs + epochMs
      return landed !== undefined && presentedAtMs - chain.blockTimeMs(landed) > proofMaxAgeMs
        ? undefined
        : 'it was presented in time'
    }
    default:
      return 'an honest payment is not refused for that'
  }
}

/** The payment wallet has on chain what the ledger says. */
function checkChainAndLedger(checks: Checks): void {
  const { chain, postgres } = checks.world
  const received = chain
    .transactions()
    .filter(({ signature, fails }) => !fails && chain.finalSlot(signature) !== undefined)
    .reduce((sum, { transferBaseUnits }) => sum + transferBaseUnits, 0n)
  const recorded = postgres.memory.balance(chain.terms.mint, accounts.paymentWallet)
  if (recorded !== received)
    violate(checks, `the payment wallet has ${received} on chain and ${recorded} in the ledger`)
}
