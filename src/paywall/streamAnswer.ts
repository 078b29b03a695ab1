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
 * Renews the lease before the first byte is sent, so that the stream has a whole lease. Refuses if another attempt has
 * taken over.
 */
export async function startStream(
  deps: StreamDeps,
  claim: Claim,
  stream: RunningStream,
): Promise<StreamedAnswer | Refusal> {
  const { ledger, clock, handlerTimeoutMs, leaseMs, rail } = deps
  const { order, payment: before, settlement, attemptId } = claim
  const { reference } = settlement
  try {
    const decision = decideStart(before, attemptId)
    const started = decision && (await ledger.append({ reference, before, ...decision, nowMs: clock.nowMs() }))
    if (started?.outcome !== 'appended') {
      stream.reader.abort()
      return refuseOvertaken()
    }
    const { after: payment, tabBalanceBaseUnits } = started
    const balance = tabBalanceBaseUnits === undefined ? {} : { tabBalanceBaseUnits }
    return {
      status: 200,
      ...createSending(deps, { ...claim, payment }, stream),
      headers: {
        ...rail.respond({ ...balance, endpoint: order.endpoint, settlement }),
        ...streamHeaders(stream, { reference, attemptId }),
      },
      // The provider and the caller must both finish before the lease ends, because another attempt can then take over.
      callerWaitMaxMs: (leaseMs - handlerTimeoutMs) / 2,
    }
  } catch (error) {
    stream.reader.abort()
    throw error
  }
}

function createSending(
  deps: StreamDeps,
  claim: Claim,
  stream: RunningStream,
): Pick<StreamedAnswer, 'chunks' | 'trailers' | 'dispatch'> {
  const { reader } = stream
  let sealed: Sealed | undefined
  async function* send(): AsyncGenerator<Uint8Array> {
    // Stays true if the caller closes this generator before the provider has ended or failed.
    let hasLeft = true
    try {
      for (let chunk = await reader.next(); chunk !== undefined; chunk = await reader.next()) yield chunk
      hasLeft = false
    } catch (error) {
      hasLeft = false
      throw error
    } finally {
      // Record the delivery even if the caller has left. If a disconnect before the last byte released the payment, one
      // payment would buy any number of nearly complete answers.
      sealed = await finish(deps, claim, { ...stream, hasLeft })
    }
    yield* streamEnd(stream, sealed.receipt)
  }
  return {
    chunks: send(),
    trailers: () => (sealed === undefined ? {} : receiptTrailers(stream, sealed.receipt)),
    dispatch: () => sealed?.dispatch,
  }
}

interface EndedStream extends RunningStream {
  /** True if the caller left while the provider was sending. */
  readonly hasLeft: boolean
}

interface Sealed {
  readonly receipt: SignedReceipt
  readonly dispatch: Dispatch
}

/**
 * Records the delivery, after reading the rest if the caller has left. An order with a price by use ends where the
 * caller left. If the provider fails, the attempt ends without a delivery.
 */
async function finish(deps: StreamDeps, claim: Claim, stream: EndedStream): Promise<Sealed> {
  const { reader, hasLeft } = stream
  const { payment, attemptId, settlement, metering } = claim
  const { reference } = settlement
  const { attemptsMax, log } = deps
  try {
    const isByUse = stream.usageSoFar !== undefined && metering !== undefined
    if (hasLeft && isByUse) reader.abort()
    else while ((await reader.next()) !== undefined);
    if (hasLeft) log.info({ event: 'caller_left_stream', reference, bytes: reader.bytes() })
    const stored = reader.stored()
    const answerJson = stored === undefined ? undefined : storeRaw(stream, stored)
    const fulfilment = await fulfil(deps, claim, {
      answerDigest: reader.digest(),
      answerJson,
      usage: stream.usageSoFar?.(),
    })
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

class Overtaken extends Error {
  override readonly name = 'Overtaken'
}
