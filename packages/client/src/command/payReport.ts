import { z } from 'zod'
import { PaymentError, PaymentRefused } from '../paymentError.ts'
import type { PaymentProgress } from '../paymentProgress.ts'
import type { PendingPayment } from '../pendingPayment.ts'
import { QuoteRefused } from '../quoteProblem.ts'
import { SpendingLimitExceeded } from '../spendingLimit.ts'
import type { ReceiptVerdict } from '../verifyReceipt.ts'
import { describeError, Fault } from '@tollbook/core/fault'
import { formatDecimal } from '@tollbook/core/money'
import { errorBody, errorMessage } from '@tollbook/core/wire'
import type { PayCommandDeps } from './commandDeps.ts'
import { isConnectionFailure } from './payExit.ts'
import { writeWhole } from './writeWhole.ts'

/** `verdict` is undefined without a receipt, or without a key to verify it. */
export interface ShownAnswer {
  readonly status: number
  readonly body: unknown
  readonly replayed: boolean
  readonly verdict: ReceiptVerdict | undefined
  readonly output: string | undefined
}

type Streams = Pick<PayCommandDeps, 'stdout' | 'stderr'>

const answerBody = z.object({ data: z.unknown(), receipt: z.unknown().optional(), meta: z.unknown().optional() })

/** Rejects if standard output does not take the answer, for example because the disk is full or the pipe is closed. */
export async function reportAnswer({ stdout, stderr }: Streams, answer: ShownAnswer): Promise<void> {
  const { status, body, replayed, verdict, output } = answer
  const parsed = answerBody.safeParse(body)
  const { data, receipt = null, meta = null } = parsed.success ? parsed.data : { data: body }
  if (status >= 400) stderr.write(`${refusalText(status, body)}\n`)
  const shown = output === undefined ? { data } : { output }
  if (stdout.isTTY === true) {
    stdout.write(`${output === undefined ? textOf(data) : `the answer is in ${output}`}\n`)
    if (receipt !== null) stdout.write(`\n${receiptText(answer)}\n`)
    return
  }
  const check = receipt === null ? 'no_receipt' : checkText(verdict)
  await writeWhole(stdout, `${JSON.stringify({ status, ...shown, receipt, meta, receiptCheck: check, replayed })}\n`)
}

function refusalText(status: number, body: unknown): string {
  const { data } = errorBody.safeParse(body)
  return data === undefined ? `the service answered ${status}` : `${status} ${data.code}: ${errorMessage(data.error)}`
}

function textOf(data: unknown): string {
  return typeof data === 'string' ? data : JSON.stringify(data, null, 2)
}

function checkText(verdict: ReceiptVerdict | undefined): string {
  if (verdict === undefined) return 'not_checked'
  return verdict.valid ? 'verified' : verdict.problem
}

// Accept only one word in each field. With a line break, a receipt could imitate the line of the verdict.
const word = z.string().regex(/^[\w:-]{1,128}$/)
const receiptFields = z.object({
  id: word,
  signature: word,
  requiredTokens: z.number(),
  ledger: z.object({ position: z.int() }),
})

function receiptText({ body, verdict, replayed }: ShownAnswer): string {
  const { data } = z.object({ receipt: receiptFields }).safeParse(body)
  const lines =
    data === undefined
      ? []
      : [
          `paid      ${data.receipt.requiredTokens} tokens${replayed ? ' (earlier; this is the stored answer)' : ''}`,
          `payment   ${data.receipt.signature}`,
          `receipt   ${data.receipt.id} at position ${data.receipt.ledger.position} of the ledger`,
        ]
  return [...lines, `verified  ${verdictText(verdict)}`].join('\n')
}

function verdictText(verdict: ReceiptVerdict | undefined): string {
  if (verdict === undefined)
    return 'no: the key of the service is not known; keep its /.well-known/jwks.json and give --receipt-key'
  return verdict.valid ? 'yes, offline' : `NO (${verdict.problem}): ${verdict.message}`
}

export interface ShownFailure {
  readonly error: Error
  readonly exitCode: number
  readonly pathOf: (payment: PendingPayment) => string
}

export function reportPayFailure(deps: Streams & Pick<PayCommandDeps, 'name'>, failure: ShownFailure): void {
  const { name, stdout, stderr } = deps
  const { error, exitCode, pathOf } = failure
  const payment = error instanceof PaymentError ? error.payment : undefined
  // Do not offer to resume a refused payment, because it buys nothing.
  const resumable = error instanceof PaymentRefused ? undefined : payment
  const hint = resumable === undefined ? hintOf(error) : `resume it with: ${name} --resume ${pathOf(resumable)}`
  // Print the cause, because the message of `fetch` is only "fetch failed".
  const message = isConnectionFailure(error)
    ? `the service does not answer: ${describeError(error.cause)}`
    : error.message
  stderr.write(`${message}\n${hint === undefined ? '' : `${hint}\n`}`)
  if (stdout.isTTY === true) {
    if (resumable !== undefined)
      stderr.write(`proof: ${resumable.proof}\nidempotency key: ${resumable.idempotencyKey}\n`)
    return
  }
  const answer = error instanceof PaymentError ? error.lastAnswer : undefined
  const { data: documentation } = documented.safeParse(error)
  const storedIn = resumable && pathOf(resumable)
  const json = { error: message, name: error.name, ...documentation, exitCode, hint, answer, payment, storedIn }
  stdout.write(`${JSON.stringify(json)}\n`)
}

const documented = z.object({ code: z.string(), docs: z.string() })

function hintOf(error: Error): string | undefined {
  if (error instanceof SpendingLimitExceeded) return `to allow it: --max-usd ${error.asked}`
  if (error instanceof QuoteRefused && error.problem === 'other_network')
    return 'give the --rpc-url of a node on the network that the service is paid on'
  if (error instanceof PaymentRefused)
    return `nothing is paid again; to see whether tokens moved, look up ${error.payment.signature} on chain`
  if (isConnectionFailure(error)) return 'nothing was paid: is the service running, and is --base-url right?'
  return error instanceof Fault && error.cause !== undefined ? `because: ${describeError(error.cause)}` : undefined
}

/** Prints at a terminal only, because a script gets one JSON object at the end. */
export function reportProgress({ stdout, stderr }: Streams, event: PaymentProgress): void {
  if (stdout.isTTY !== true) return
  if (event.kind === 'signed') {
    const { debit, signature } = event.payment
    stderr.write(debit === undefined ? `paying with ${signature}\n` : `paying from the ${debit.reference}\n`)
  }
  if (event.kind === 'quoted') {
    const { quote, cost, createsTokenAccount } = event.plan
    const rent = createsTokenAccount ? ', and about 0.002 SOL for the token account of the service' : ''
    stderr.write(`the price is ${formatDecimal(cost.baseUnits, quote.decimals)} tokens${rent}\n`)
  }
  if (event.kind === 'waiting') {
    const { lastAnswer, delayMs } = event
    const why =
      lastAnswer === undefined ? 'the answer got lost' : `${lastAnswer.status} ${lastAnswer.code ?? ''}`.trim()
    stderr.write(`${why}: the same payment again in ${delayMs / 1000} s\n`)
  }
}
