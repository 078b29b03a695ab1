import { assertNever } from '@tollbook/core/assert'
import type { Usage } from '../pricing/meteredPrice.ts'
import { charactersPerToken } from '../pricing/tokenCount.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import { memberOf } from './judgeAnswer.ts'
import { hasReply, type LimitedOrder, replyIn, reportIn, tokenUsage } from './tokenUse.ts'
import type { UseUnit } from './usePrice.ts'

export interface CountedAnswer {
  readonly bytes: Uint8Array
  /** Parsed JSON of the answer. Undefined if the answer is not JSON. */
  readonly data: unknown
}

/**
 * Returns the usage of a whole answer in this unit. Undefined for tokens if the order has a fixed price. Throws if the
 * usage cannot be counted, or if a reply is longer than its token limit allows.
 */
export function usageOf(
  unit: UseUnit,
  { bytes, data }: CountedAnswer,
  limited: LimitedOrder | undefined,
): Usage | undefined {
  switch (unit.kind) {
    case 'tokens': {
      if (limited === undefined) return undefined
      const [reported, reply] = [reportIn(data), replyIn(data)]
      // Refuse an answer without replies and usage, such as an error under status 200, or an answer in another wire
      // format.
      if (reported === undefined && !hasReply(data))
        throw new UpstreamFailure('incomplete', 'the answer has neither replies nor their tokens')
      if (reply.length > limited.outputMax * charactersPerToken)
        throw new UpstreamFailure('incomplete', 'the answer has more tokens than it was asked for')
      return tokenUsage({ ...limited, reported, reply })
    }
    case 'bytes':
      return { input: 0, output: bytes.length, isEstimated: false }
    case 'rows':
      return { input: 0, output: countRows(unit.pointer, data), isEstimated: false }
    default:
      return assertNever(unit)
  }
}

function countRows(pointer: readonly string[], data: unknown): number {
  const found = pointer.reduce(memberOf, data)
  const rows = Array.isArray(found) ? found.length : found
  if (typeof rows === 'number' && Number.isSafeInteger(rows) && rows >= 0) return rows
  throw new UpstreamFailure(
    'incomplete',
    `the answer has neither an array nor a number of rows at /${pointer.join('/')}`,
  )
}
