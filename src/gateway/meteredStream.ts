import { z } from 'zod'
import { outputWithin, type Usage } from '../pricing/meteredPrice.ts'
import { charactersPerToken } from '../pricing/tokenCount.ts'
import type { MeteredJob } from '../product/product.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import { type LimitedOrder, replyIn, reportIn, textsIn, tokenUsage } from './tokenUse.ts'

/*
 * Counters for an event stream that is paid by use. An event is counted before it is sent, so that no unpaid event is
 * sent.
 */

export interface EventCounter {
  /**
   * Counts an event. Returns the event to send to the caller, which may be changed or empty. Returns `over` if the
   * budget does not pay for the event.
   */
  take(event: Buffer): Buffer | 'over'
  /** Returns the events that inform the caller that the stream was cut. */
  cut(): string
  usage(): Usage
}

/**
 * Counts the events of a stream, and cuts it only between two events. The events of `cut` distinguish the cut from a
 * broken stream.
 */
export async function* countedEvents(
  chunks: AsyncIterable<Uint8Array>,
  counter: EventCounter,
): AsyncGenerator<Uint8Array> {
  for await (const event of eventsOf(chunks)) {
    const taken = counter.take(event)
    if (taken === 'over') {
      yield Buffer.from(counter.cut())
      return
    }
    if (taken.length > 0) yield taken
  }
}

// Maximum of an incomplete event, because it is held in memory and an upstream could send one without an end.
const eventBytesMax = 1024 * 1024

/** Splits a stream into events. A stream may end without an empty line, so its remaining bytes are also an event. */
async function* eventsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let pending = Buffer.alloc(0)
  for await (const chunk of chunks) {
    pending = Buffer.concat([pending, chunk])
    for (let end = endOfEvent(pending); end !== undefined; end = endOfEvent(pending)) {
      yield pending.subarray(0, end)
      pending = pending.subarray(end)
    }
    if (pending.length > eventBytesMax)
      throw new UpstreamFailure('bad_payload', `an event of the stream is longer than ${eventBytesMax} bytes`)
  }
  if (pending.length > 0) yield pending
}

function endOfEvent(bytes: Buffer): number | undefined {
  // An empty line ends an event. Lines end in LF, CRLF or CR, also mixed (WHATWG HTML, 9.2).
  const found = /(?:\r\n|\n|\r(?!\n)){2}/.exec(bytes.toString('latin1'))
  return found === null ? undefined : found.index + found[0].length
}

export function countBytes({ price, budgetMicroUsd }: MeteredJob): EventCounter {
  const most = outputWithin(price, { input: 0, budgetMicroUsd }) ?? 0
  let bytes = 0
  return {
    take(event) {
      if (bytes + event.length > most) return 'over'
      bytes += event.length
      return event
    },
    cut: () => 'event: limit\ndata: {"stoppedBy":"limit"}\n\n',
    usage: () => ({ input: 0, output: bytes, isEstimated: false }),
  }
}

const chunkShape = z.looseObject({
  choices: z.array(z.looseObject({ finish_reason: z.string().nullish() })),
  usage: z.unknown().optional(),
})

const nothing = Buffer.alloc(0)

/**
 * Creates the counter of a streamed reply. Adds `stoppedBy` to a reply that the budget cut, because `finish_reason`
 * does not show whose limit ended the reply.
 */
export function countReply(limited: LimitedOrder): EventCounter {
  const { outputMax, isByBudget, wantsUsage } = limited
  let reported: Pick<Usage, 'input' | 'output'> | undefined
  let reply = ''
  // Texts of events without choices, such as those of another wire format. They are the reply if the stream has no
  // other.
  let others = ''
  let head: Record<string, unknown> = {}
  return {
    take(event) {
      const data = dataOf(event)
      const chunk = chunkShape.safeParse(data).data
      if (chunk === undefined) {
        reported = reportIn(data) ?? reported
        // More characters than this would not change the charge.
        if (others.length < outputMax * charactersPerToken) others += textsIn(z.json().safeParse(data).data).join('')
        return event
      }
      const text = replyIn(chunk)
      // Enforce the limit here, because some APIs ignore the token limit.
      if (reply.length + text.length > outputMax * charactersPerToken) return 'over'
      reply += text
      reported = reportIn(chunk) ?? reported
      const { choices, usage: _usage, ...members } = chunk
      head = members
      // Drop the event with the usage unless the caller requested it, because other clients expect a choice in every
      // event.
      if (choices.length === 0 && reported !== undefined && !wantsUsage) return nothing
      const isCut = isByBudget && choices.some(({ finish_reason: reason }) => reason === 'length')
      return isCut ? Buffer.from(eventOf({ ...chunk, ...stoppedBy })) : event
    },
    cut() {
      const choices = [{ index: 0, delta: {}, finish_reason: 'length' }]
      return `${eventOf({ ...head, choices, ...stoppedBy })}data: [DONE]\n\n`
    },
    usage: () => tokenUsage({ ...limited, reported, reply: reply === '' ? others : reply }),
  }
}

const stoppedBy = { stoppedBy: 'limit' }
const eventOf = (data: object) => `data: ${JSON.stringify(data)}\n\n`

function dataOf(event: Buffer): unknown {
  const lines = event.toString('utf8').split(/\r\n|\n|\r/)
  const data = lines.flatMap((line) => (line.startsWith('data:') ? [line.slice('data:'.length)] : [])).join('\n')
  try {
    return JSON.parse(data)
  } catch {
    // The data is not JSON, for example in a comment, or in the `[DONE]` at the end of the stream.
    return undefined
  }
}
