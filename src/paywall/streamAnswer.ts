import { describeError } from '@tollbook/core/fault'
import { isRefusal, type Refusal } from '@tollbook/core/refusal'
import { decideBreak, decideStart } from '../payment/attempt.ts'
import type { SignedReceipt } from '../payment/receipt.ts'
import type { Dispatch, StreamedAnswer } from './answer.ts'
import { type Claim, type ClaimDeps, fulfil, recordRelease, refuseOvertaken } from './claim.ts'
import type { HandlerDeps, RunningStream } from './runHandler.ts'
import { dispatchOf, type ReceiptDeps } from './sendReceipt.ts'
import { storeRaw } from './rawFormat.ts'
import { receiptTrailers, streamEnd, streamHeaders } from './streamFormat.ts'

export interface StreamDeps extends ClaimDeps, HandlerDeps, Omit<ReceiptDeps, 'ledger'> {}

/**
 * Starts a streamed answer. It renews the claim in the ledger before the first byte is sent. Refuses if another attempt
 * has taken over.
 */
export async function startStream(
  deps: StreamDeps,
  claim: Claim,
  stream: RunningStream,
): Promise<StreamedAnswer | Refusal> {
  const { handlerTimeoutMs, leaseMs, rail } = deps
  const { order, settlement, attemptId } = claim
  try {
    const started = await recordStart(deps, claim)
    if (started === undefined) {
      stream.reader.abort()
      return refuseOvertaken()
    }
    return {
      status: 200,
      ...createSending(deps, started, stream),
      headers: {
        ...rail.respond({ endpoint: order.endpoint, settlement }),
        ...streamHeaders(stream, { reference: settlement.reference, attemptId }),
      },
      // Provider and caller must both finish before the lease ends and another attempt can take over.
      callerWaitMaxMs: (leaseMs - handlerTimeoutMs) / 2,
    }
  } catch (error) {
    stream.reader.abort()
    throw error
  }
}

async function recordStart({ ledger, clock }: StreamDeps, claim: Claim): Promise<Claim | undefined> {
  const { payment, attemptId, settlement } = claim
  const decision = decideStart(payment, attemptId)
  if (decision === undefined) return undefined
  const { reference } = settlement
  const appended = await ledger.append({ reference, before: payment, ...decision, nowMs: clock.nowMs() })
  return appended.outcome === 'appended' ? { ...claim, payment: appended.after } : undefined
}

function createSending(
  deps: StreamDeps,
  claim: Claim,
  stream: RunningStream,
): Pick<StreamedAnswer, 'chunks' | 'trailers' | 'dispatch'> {
  const { reader } = stream
  let sealed: Sealed | undefined
  async function* send(): AsyncGenerator<Uint8Array> {
    try {
      for (let chunk = await reader.next(); chunk !== undefined; chunk = await reader.next()) yield chunk
    } finally {
      // Record the delivery even if the caller has left. If a disconnect before the last byte released the payment, one
      // payment would buy any number of nearly complete answers.
      sealed = await finish(deps, claim, stream)
    }
    yield* streamEnd(stream, sealed.receipt)
  }
  return {
    chunks: send(),
    trailers: () => (sealed === undefined ? {} : receiptTrailers(stream, sealed.receipt)),
    dispatch: () => sealed?.dispatch,
  }
}

interface Sealed {
  readonly receipt: SignedReceipt
  readonly dispatch: Dispatch
}

/**
 * Reads what the caller has left unread, and records the delivery. The answer stays stored for its payer if it is small
 * enough. If the provider failed, the payment is released with the bytes sent so far, and the same proof is valid
 * again.
 */
async function finish(deps: StreamDeps, claim: Claim, stream: RunningStream): Promise<Sealed> {
  const { reader } = stream
  const { payment, attemptId, settlement } = claim
  const { reference } = settlement
  const { attemptsMax, log } = deps
  try {
    let hasLeft = false
    while ((await reader.next()) !== undefined) hasLeft = true
    if (hasLeft) log.info({ event: 'caller_left_stream', reference, bytes: reader.bytes() })
    const stored = reader.stored()
    const storedAnswer = stored === undefined ? undefined : storeRaw(stream, stored)
    const fulfilment = await fulfil(deps, claim, { answerDigest: reader.digest(), storedAnswer })
    if (isRefusal(fulfilment)) throw new Overtaken('another attempt took over while this answer was sent')
    const dispatch = dispatchOf(deps, { fulfilment, replayed: false })
    return { receipt: await deps.signReceipt(fulfilment), dispatch }
  } catch (error) {
    reader.abort()
    const [bytes, digest] = [reader.bytes(), reader.digest()]
    log.warn({ event: 'stream_broke', reference, bytes, error: describeError(error) })
    await recordRelease(deps, claim, decideBreak(payment, { attemptId, bytes, digest, attemptsMax }))
    throw error
  }
}

/** Another attempt has taken over, so this delivery is not the sold one. */
class Overtaken extends Error {
  override readonly name = 'Overtaken'
}
