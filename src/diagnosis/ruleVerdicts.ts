import { isoTime } from '@tollbook/core/clock'
import { memoPrefix } from '@tollbook/core/quote'
import { isRefusal, type Refusal } from '@tollbook/core/refusal'
import { proofMaxAgeMs, quoteGraceMs } from '../payment/paymentAges.ts'
import {
  judgeBurn,
  judgeSigner,
  judgeSuccess,
  judgeTransfer,
  type ProvenAmounts,
  type SettlementQuestion,
} from '../payment/settlement.ts'
import { isDepositPrice } from '../payment/tabSettlement.ts'
import type { TransactionRecord } from '../payment/transactionRecord.ts'
import type { QuoteFact } from '../reports/paymentFacts.ts'
import type { RuleVerdict } from './explanation.ts'

export interface RulesQuestion extends SettlementQuestion {
  /** The quote that determines the price. Undefined: the price list in force determines it. */
  readonly quote: QuoteFact | undefined
  readonly nowMs: number
  readonly presentedAtMs: number | undefined
  /** True if the ledger has verified the payment. The age of the payment then no longer matters. */
  readonly isVerified: boolean
}

/** Returns a verdict for each listed rule of docs/verification.md. The service itself stops at the first failure. */
export function ruleVerdicts(question: RulesQuestion): readonly RuleVerdict[] {
  return [
    judged('1b', 'the transaction succeeded', judgeSuccess(question)),
    judgeQuoteSlot(question),
    judged('2a', `the wallet ${question.wallet} signed`, judgeSigner(question)),
    judged('3', `the wallet burned at least ${question.price.burnBaseUnits} base units`, judgeBurn(question)),
    judged('4', 'enough arrived in the payment wallet from this wallet, and stayed', judgeTransfer(question)),
    judgeBinding(question),
    judgeAge(question),
    judgePrice(question),
  ]
}

function judged(rule: string, asks: string, outcome: Refusal | ProvenAmounts | undefined): RuleVerdict {
  const isFailed = outcome !== undefined && isRefusal(outcome)
  return { rule, asks, verdict: isFailed ? 'failed' : 'passed', why: isFailed ? outcome.message : '' }
}

function judgeQuoteSlot({ record, quote }: RulesQuestion): RuleVerdict {
  const asks = 'it did not land before the slot of its quote'
  if (quote === undefined) return { rule: '1d', asks, verdict: 'not_checked', why: 'no quote was open for it' }
  const isEarly = record.slot < quote.slot
  const why = isEarly ? `it landed in slot ${record.slot}, before slot ${quote.slot}` : ''
  return { rule: '1d', asks, verdict: isEarly ? 'failed' : 'passed', why }
}

export function memosOfOurs({ memos }: Pick<TransactionRecord, 'memos'>): readonly string[] {
  return memos.filter((memo) => memo.startsWith(memoPrefix))
}

function judgeBinding({ record, quote, price }: RulesQuestion): RuleVerdict {
  const asks = 'a memo of ours names a quote of this wallet, and comes with its secret'
  const memos = memosOfOurs(record)
  const verdict = (found: RuleVerdict['verdict'], why: string) => ({ rule: '7', asks, verdict: found, why })
  if (memos.length === 0 && isDepositPrice(price)) return verdict('failed', 'a deposit needs the memo of its quote')
  if (memos.length === 0) return verdict('passed', 'it has no memo of ours, so it needs no secret')
  if (memos.length > 1) return verdict('failed', `it has ${memos.length} memos of ours`)
  if (quote === undefined || quote.memo !== memos[0])
    return verdict('failed', 'no quote on record has this memo; unpaid quotes are kept for days only')
  // The ledger stores only the memo, so only the caller can show the secret.
  return verdict('not_checked', `the caller has to send the secret of ${quote.id} with the signature`)
}

function judgeAge(question: RulesQuestion): RuleVerdict {
  const { record, nowMs, presentedAtMs, isVerified } = question
  const asks = `it is presented within ${proofMaxAgeMs / 1_000} s of landing`
  const verdict = (found: RuleVerdict['verdict'], why: string) => ({ rule: '8', asks, verdict: found, why })
  if (isVerified) return verdict('passed', 'the ledger has verified it')
  if (record.blockTimeMs === undefined) return verdict('not_checked', 'the node does not know the time of the block')
  const untilMs = record.blockTimeMs + proofMaxAgeMs
  if (presentedAtMs !== undefined && presentedAtMs <= untilMs)
    return verdict('passed', `it was presented at ${isoTime(presentedAtMs)}, and could not be decided then`)
  return nowMs <= untilMs
    ? verdict('passed', `it can be presented until ${isoTime(untilMs)}`)
    : verdict('failed', `it could be presented until ${isoTime(untilMs)}`)
}

function judgePrice({ quote, price, record, nowMs }: RulesQuestion): RuleVerdict {
  const asks = `it meets the price of ${price.endpoint}: ${price.requiredBaseUnits} base units`
  const isOpen = quote !== undefined && (record.blockTimeMs ?? nowMs) < quote.expiresAtMs + quoteGraceMs
  const why = isOpen
    ? `the price of ${quote.id}`
    : 'no quote of the wallet was open when it landed, so the price list of that moment decides'
  return { rule: '9', asks, verdict: 'passed', why }
}
