import { VersionedTransaction } from '@solana/web3.js'
import { systemClock } from '@tollbook/core/clock'
import type { QuoteBody } from '@tollbook/core/wire'
import type { Payer, Payment } from '../../support/payer.ts'
import { awaitQuote, present, type Presented } from '../present.ts'
import type { ChainControl } from './chainControl.ts'

export const proofForms = ['signature', 'transaction', 'bound'] as const
export type ProofForm = (typeof proofForms)[number]

/** `unsent`: a signature that is never sent. `short`: one base unit less than the price. */
export type Honesty = 'honest' | 'unsent' | 'short'

export interface MatrixPayment {
  readonly form: ProofForm
  readonly honesty: Honesty
  readonly symbol: string
  readonly signature: string
  readonly blockhash: string
  readonly proof: string
}

export interface PaymentPlan {
  readonly baseUrl: string
  readonly payer: Payer
  readonly form: ProofForm
  readonly honesty: Honesty
  readonly symbol: string
  /** Hands the payment that is never sent to a node which claims to have sent it. */
  readonly handToLiar?: (bytes: Uint8Array) => Promise<void>
}

export interface QuotedPlan extends PaymentPlan {
  readonly quote: QuoteBody
}

const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString('base64')

/** A plan with its price. The payer signs later, perhaps with a blockhash that a faulty node does not know. */
export async function quotePlan(plan: PaymentPlan): Promise<QuotedPlan> {
  const { baseUrl, payer, symbol } = plan
  return { ...plan, quote: await awaitQuote({ baseUrl, wallet: payer.address, symbol }) }
}

/** A signed payment; on chain already, except in the forms that the service sends. */
export async function pay({ payer, quote, form, honesty, symbol, handToLiar }: QuotedPlan): Promise<MatrixPayment> {
  const options = { bound: form === 'bound', shortBy: honesty === 'short' ? 1n : 0n }
  const payment = await payer.sign(quote, options)
  // An even bound payment is sent by its payer, an odd one by the service.
  const isSentByService = form === 'transaction' || (form === 'bound' && Number(symbol.replace(/\D/g, '')) % 2 === 1)
  if (!isSentByService && honesty !== 'unsent') await payer.send(payment)
  if (honesty === 'unsent') await handToLiar?.(payment.bytes)
  const { recentBlockhash: blockhash } = VersionedTransaction.deserialize(payment.bytes).message
  const proof = proofOf(payment, isSentByService && honesty !== 'unsent')
  return { form, honesty, symbol, signature: payment.signature, blockhash, proof }
}

function proofOf({ signature, bytes, secret }: Payment, withTransaction: boolean): string {
  if (secret === undefined) return base64(withTransaction ? bytes : signature)
  return base64(JSON.stringify(withTransaction ? { transaction: base64(bytes), secret } : { signature, secret }))
}

/** End of one payment: the last answer, whether it came during the fault, and what a final 402 got wrong. */
export interface PaymentEnd {
  readonly payment: MatrixPayment
  readonly answer: Presented
  readonly presentations: number
  readonly duringFault: boolean
  /** The payment had landed, or could still land, when the caller was told to make a new one. */
  readonly falseVerdict: string | undefined
}

export interface Persistence {
  readonly baseUrl: string
  readonly wallet: string
  readonly chain: ChainControl
  readonly isFaulty: () => boolean
  readonly deadlineMs: () => number
}

/** Presents the same proof again until it is answered for good, as the documentation tells callers to. */
export async function presentUntilFinal(payment: MatrixPayment, options: Persistence): Promise<PaymentEnd> {
  const { baseUrl, wallet, chain } = options
  for (let presentations = 1; ; presentations++) {
    const duringFault = options.isFaulty()
    const answer = await present({ baseUrl, wallet, symbol: payment.symbol, proof: payment.proof })
    const isFinal = answer.status === 200 || tellsToPayAgain(answer)
    if (isFinal || systemClock.monotonicMs() > options.deadlineMs()) {
      const falseVerdict = tellsToPayAgain(answer) ? await contradictedBy(chain, payment) : undefined
      return { payment, answer, presentations, duringFault, falseVerdict }
    }
    await systemClock.sleep(Math.min(Math.max(answer.retryAfterMs, pauseMinMs), pauseMaxMs))
  }
}

/** docs/api.md: every 402 is final but `not_found`. */
export function tellsToPayAgain({ status, reason }: Presented): boolean {
  return status === 402 && reason !== 'not_found'
}

async function contradictedBy(chain: ChainControl, { honesty, signature, blockhash }: MatrixPayment) {
  if (honesty === 'short') return undefined
  if ((await chain.landed(signature)) !== undefined) return 'it had landed'
  return (await chain.canLand(blockhash)) ? 'it could land' : undefined
}

const pauseMinMs = 300
const pauseMaxMs = 1_000
