import { assertNever } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import { formatDecimal } from '@tollbook/core/money'
import type { RecordedPayment } from '../reports/paymentFacts.ts'
import { refundAfterMs, settleAgeMs } from '../payment/paymentAges.ts'
import type { Attempt, Diagnosis, RuleVerdict } from './explanation.ts'
import type { ChainAnswer } from './statements.ts'

export interface DiagnosisQuestion {
  readonly answer: ChainAnswer
  readonly recorded: RecordedPayment | undefined
  readonly attempts: readonly Attempt[]
  readonly rules: readonly RuleVerdict[]
  /** Products whose price the payment meets. Used if the ledger does not contain the payment. */
  readonly buys: readonly string[]
  /** Net amount that arrived in the payment wallets, in base units. */
  readonly arrivedBaseUnits: bigint
  readonly decimals: number
}

/** A diagnosis. If `booking` is absent, nothing is due. */
type Conclusion = Omit<Diagnosis, 'booking'> & Partial<Diagnosis>

/** Diagnoses a payment from the given facts alone: from the ledger if it decides, and otherwise from the chain. */
export function diagnose(question: DiagnosisQuestion): Diagnosis {
  const { recorded } = question
  const inLedger = recorded === undefined ? undefined : ofLedger(question, recorded)
  return { booking: null, ...(inLedger ?? ofChain(question)) }
}

function ofOtherStream({ kind }: RecordedPayment): Conclusion {
  const code = kind === 'payout' ? 'payout' : 'burn'
  const staff =
    code === 'payout'
      ? 'This transaction is a payout of ours: it pays debts of the ledger.'
      : 'This transaction burns tokens that we had received for burning.'
  return { code, staff, caller: 'Nothing. It is not a payment and cannot buy an answer.' }
}

const owedBack = 'Nothing. The debt is paid back to the wallet by the next payout.'

/**
 * Diagnoses a payment from the ledger, or the transaction of a payout or burn. Undefined if the ledger contains at most
 * the submission of the payment.
 */
function ofLedger(question: DiagnosisQuestion, recorded: RecordedPayment): Conclusion | undefined {
  const isOfTab = recorded.kind === 'tab_request'
  if (recorded.kind !== 'payment' && !isOfTab) return ofOtherStream(recorded)
  const { state } = recorded
  switch (state.phase) {
    case 'unknown':
    case 'submitted':
      return undefined
    case 'fulfilled':
      return { code: 'delivered', ...delivered(question) }
    case 'claimed':
    case 'streaming':
    case 'verified':
      return {
        code: 'being_served',
        staff: 'The payment is verified, and its answer is being made at the moment.',
        caller: 'Repeat the same request with the same proof in a few seconds.',
      }
    case 'released':
      return isOfTab ? returnedToTab(question) : notDelivered(question, state.isFinal)
    case 'exhausted':
      return {
        code: 'attempts_exhausted',
        staff: `Every permitted attempt failed${lastReason(question)}. The payment becomes a refund when it is final.`,
        caller: owedBack,
      }
    case 'refund_due':
      return {
        code: 'refund_due',
        staff: `Nothing was delivered${lastReason(question)}. The amount that arrived for the price is owed back to the wallet.`,
        caller: owedBack,
      }
    case 'reversed':
      return {
        code: 'reversed',
        staff: 'The chain dropped the block of this payment, so its tokens never arrived. No refund is due.',
        caller: 'Check the balance of the wallet: the tokens are still there. Make a new payment for a new request.',
      }
    case 'unmatched':
      return {
        code: 'unmatched',
        staff:
          'The tokens arrived without a request, and the time to present them is over. They are owed to the sender.',
        caller: `${owedBack} It can no longer buy an answer.`,
      }
    default:
      return assertNever(state)
  }
}

function delivered({ attempts }: DiagnosisQuestion): Pick<Diagnosis, 'staff' | 'caller'> {
  const last = attempts.at(-1)
  return {
    staff: `The payment was verified, and attempt ${last?.attempt ?? 1} delivered its answer at ${last?.endedAt ?? 'an unknown time'}.`,
    caller:
      'Do not pay again. If the answer was lost on the way, repeat the same request with the same proof: an answer that was not sent completely is sent once more. The receipt stays available.',
  }
}

function lastReason({ attempts }: DiagnosisQuestion): string {
  const reason = attempts.at(-1)?.reason ?? null
  return reason === null ? '' : ` (last attempt: ${reason})`
}

function returnedToTab(question: DiagnosisQuestion): Conclusion {
  return {
    code: 'not_delivered',
    staff: `${fruitless(question)}. Its tokens are on the tab again, so no refund is due.`,
    caller: 'Repeat the same request; the tab pays only for an answer.',
  }
}

function fruitless({ attempts, ...question }: DiagnosisQuestion): string {
  const count = attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`
  return `${count} delivered nothing${lastReason({ attempts, ...question })}`
}

function notDelivered(question: DiagnosisQuestion, isFinal: boolean): Conclusion {
  const { attempts } = question
  const startedAtMs = Date.parse(attempts[0]?.startedAt ?? '')
  const refundAt = Number.isNaN(startedAtMs) ? 'a day after its first attempt' : isoTime(startedAtMs + refundAfterMs)
  return {
    code: 'not_delivered',
    staff: `The payment is verified, and ${fruitless(question)}. Without a delivery it becomes a refund at ${refundAt}.`,
    caller: 'Repeat the same request with the same proof; it needs no second payment. Or wait for the refund.',
    // Before finality the chain may still drop the payment, and a refund would pay back tokens that never arrived.
    booking: isFinal
      ? { kind: 'refund', words: 'End the payment now, and owe what was received for it back to its wallet.' }
      : null,
  }
}

function ofChain(question: DiagnosisQuestion): Conclusion {
  const { answer, recorded } = question
  switch (answer.kind) {
    case 'found':
      return ofRecord(question, answer.record.failure?.text)
    case 'proven_absent':
      return {
        code: 'not_on_chain',
        staff: 'The nodes agree that the transaction never landed and cannot land any more.',
        caller: 'Make a new payment with a new quote. The old transaction moved no tokens.',
      }
    case 'unavailable':
    case 'not_asked':
      return {
        code: 'chain_unavailable',
        staff: `The ledger does not have this payment, and the chain could not be asked: ${answer.why}.`,
        caller: 'Do not pay again. Ask once more when a Solana node answers.',
      }
    case 'unknown':
      if (answer.isSeen)
        return {
          code: 'not_confirmed',
          staff: `The transaction has not reached the required commitment yet: ${answer.why}.`,
          caller: 'Repeat the same request with the same proof in a few seconds. Do not pay again.',
        }
      return {
        code: recorded === undefined ? 'not_on_chain' : 'submitted',
        staff:
          recorded === undefined
            ? 'No node has this transaction, and it was never presented here. It was not sent, it was dropped, or the signature is of another network.'
            : 'The service has sent this transaction for the caller and has not seen it on the chain yet.',
        caller:
          'Look the signature up in a Solana explorer. If it is not there two minutes after it was sent, it never landed: make a new payment with a new quote.',
      }
    default:
      return assertNever(answer)
  }
}

function ofRecord(question: DiagnosisQuestion, failure: string | undefined): Conclusion {
  const { arrivedBaseUnits, decimals, buys, rules } = question
  if (failure !== undefined)
    return {
      code: 'failed_on_chain',
      staff: `The transaction is on the chain and failed, so it moved no tokens: ${failure}.`,
      caller: 'Make a new payment with a new quote.',
    }
  if (arrivedBaseUnits <= 0n)
    return {
      code: 'paid_elsewhere',
      staff: 'The transaction succeeded, but no token of ours arrived in a payment wallet on record.',
      caller:
        'Compare the receiver with `paymentTokenAccount` of the quote. Tokens that went elsewhere are not with us.',
    }
  const tokens = `${formatDecimal(arrivedBaseUnits, decimals)} tokens`
  // Check the age first, because a payment that is too late buys nothing, whatever its amount.
  const isTooLate = rules.some(({ rule, verdict }) => rule === '8' && verdict === 'failed')
  if (isTooLate) return tooLate(question, tokens)
  const failed = rules.filter(({ verdict }) => verdict === 'failed')
  if (buys.length === 0)
    return {
      code: 'pays_no_price',
      staff:
        `${tokens} arrived, and they meet the price of no product. ${failed.map(({ rule, why }) => `Rule ${rule}: ${why}.`).join(' ')}`.trim(),
      caller: `It cannot buy an answer. ${backAt(question)}`,
      booking: bookable,
    }
  return {
    code: 'never_presented',
    staff: `${tokens} arrived, and no caller has presented the payment. It still buys one answer of: ${buys.join(', ')}.`,
    caller:
      'Send the request now, with `x-wallet-address` and the signature in base64 as `x-payment-proof`. A payment with a memo of ours needs the secret of its quote too.',
    booking: bookable,
  }
}

const bookable = {
  kind: 'unmatched',
  words: 'Record the tokens as owed to their sender now. The payment can then no longer buy an answer.',
} as const

function tooLate(question: DiagnosisQuestion, tokens: string): Conclusion {
  return {
    code: 'presented_too_late',
    staff: `${tokens} arrived, and the payment was not presented in time. It can no longer buy an answer.`,
    caller: `Nothing. ${backAt(question)}`,
    booking: bookable,
  }
}

function backAt({ answer }: DiagnosisQuestion): string {
  const blockTimeMs = answer.kind === 'found' ? answer.record.blockTimeMs : undefined
  const at = blockTimeMs === undefined ? '' : ` at ${isoTime(blockTimeMs + settleAgeMs)}`
  return `The tokens are recorded as owed to the sender${at}, and a payout returns them.`
}
