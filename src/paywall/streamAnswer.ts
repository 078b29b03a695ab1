import { describeError } from '@tollbook/core/fault'
import { isRefusal } from '@tollbook/core/refusal'
import { decideBreak, decideStart } from '../payment/attempt.ts'
import type { SignedReceipt } from '../payment/receipt.ts'
import { type Answer, type Dispatch, refusalAnswer, type StreamedAnswer } from './answer.ts'
import { type Claim, refuseOvertaken } from './claimPayment.ts'
import { fulfil, recordRelease, type RedeemDeps } from './redeem.ts'
import type { HandlerDeps, RunningStream } from './runHandler.ts'
import { dispatchOf, type ReceiptDeps } from './sendReceipt.ts'
import { createStreamReader, type StreamReader } from './streamReader.ts'
import { receiptTrailers, storedStream, streamEnd, streamHeaders } from './streamFormat.ts'

export interface StreamDeps extends RedeemDeps, HandlerDeps, Omit<ReceiptDeps, 'ledger'> {
  readonly leaseMs: number
}

// An hour of speech as text has 60 kB; images and documents are artifacts and have their own limits.
const bytesMax = 8 * 1024 * 1024
// An answer that can be replayed is stored in the ledger's notes, for a day at most.
const storedBytesMax = 256 * 1024

/**
 * Starts a streamed answer: the claim is renewed in the ledger before the first byte is sent. Refuses when another attempt
 * took over meanwhile.
 */
export async function startStream(
  deps: StreamDeps,
  claim: Claim,
  stream: RunningStream,
): Promise<StreamedAnswer | Answer> {
  const { handlerTimeoutMs, leaseMs, clock } = deps
  const reader = createStreamReader(clock, stream, { bytesMax, timeMaxMs: handlerTimeoutMs, storedBytesMax })
  try {
    const started = await recordStart(deps, claim)
    if (started === undefined) {
      reader.abort()
      return refusalAnswer(refuseOvertaken())
    }
    const sending = createSending(deps, { claim: started, stream, reader })
    return {
      status: 200,
      headers: {
        ...deps.rail.respond({ endpoint: claim.order.endpoint, settlement: claim.settlement }),
        ...streamHeaders(stream, claim),
      },
      ...sending,
      // Provider and caller together have to be done before the lease ends and another attempt may take over.
      callerWaitMaxMs: (leaseMs - handlerTimeoutMs) / 2,
    }
  } catch (error) {
    reader.abort()
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

interface Run {
  readonly claim: Claim
  readonly stream: RunningStream
  readonly reader: StreamReader
}

function createSending(deps: StreamDeps, run: Run): Pick<StreamedAnswer, 'chunks' | 'trailers' | 'dispatch'> {
  let sealed: Sealed | undefined
  async function* send(): AsyncGenerator<Uint8Array> {
    const { reader } = run
    let isOpen = true
    try {
      for (let chunk = await reader.next(); chunk !== undefined; chunk = await reader.next()) yield chunk
      sealed = await seal(deps, run)
      isOpen = false
      yield* streamEnd(run.stream, sealed.receipt)
    } catch (error) {
      isOpen = false
      await breakOff(deps, run, error)
      throw error
    } finally {
      if (isOpen) await finishAlone(deps, run)
    }
  }
  return {
    chunks: send(),
    trailers: () => (sealed === undefined ? {} : receiptTrailers(run.stream, sealed.receipt)),
    dispatch: () => sealed?.dispatch,
  }
}

interface Sealed {
  readonly receipt: SignedReceipt
  readonly dispatch: Dispatch
}

/** Records the delivery. Throws when another attempt took over meanwhile: then this delivery is not the one that was sold. */
async function seal(deps: StreamDeps, { claim, stream, reader }: Run): Promise<Sealed> {
  const bytes = reader.stored()
  const storedAnswer = bytes === undefined ? undefined : storedStream(stream, bytes)
  const fulfilment = await fulfil(deps, claim, { answerDigest: reader.digest(), storedAnswer })
  if (isRefusal(fulfilment)) throw new Overtaken('another attempt took over while this answer was sent')
  const dispatch = dispatchOf(deps, { fulfilment, replayed: false })
  return { receipt: await deps.signReceipt(fulfilment), dispatch }
}

class Overtaken extends Error {
  override readonly name = 'Overtaken'
}

/**
 * The caller left. The answer is read to its end and recorded as delivered: if leaving before the last byte released the
 * payment, one payment would buy any number of nearly complete answers. The answer stays stored for its payer if it fits.
 */
async function finishAlone(deps: StreamDeps, run: Run): Promise<void> {
  const { reader } = run
  const { reference } = run.claim.settlement
  try {
    for (let chunk = await reader.next(); chunk !== undefined;) chunk = await reader.next()
    await seal(deps, run)
    deps.log.info({ event: 'caller_left_stream', reference, bytes: reader.bytes() })
  } catch (error) {
    await breakOff(deps, run, error)
  }
}

/** The provider broke off. The payment is released with what was sent so far, and the same proof works again. */
async function breakOff(deps: StreamDeps, { claim, reader }: Run, error: unknown): Promise<void> {
  reader.abort()
  const { reference } = claim.settlement
  const [bytes, digest] = [reader.bytes(), reader.digest()]
  deps.log.warn({ event: 'stream_broke', reference, bytes, error: describeError(error) })
  const { attemptId, payment } = claim
  await recordRelease(deps, claim, decideBreak(payment, { attemptId, bytes, digest, attemptsMax: deps.attemptsMax }))
}
