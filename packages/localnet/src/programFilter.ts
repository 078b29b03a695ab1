import { base58 } from '@scure/base'
import { z } from 'zod'
import { sameBytes } from './byteKey.ts'
import { decodeBase64 } from './wireParam.ts'

/** Limits of a real node: the number of filters, and the bytes that each compares. */
const filtersMax = 4
const comparedBytesMax = 128

const bytesToCompare = z
  .object({
    offset: z.number().int().nonnegative(),
    bytes: z.string().max(comparedBytesMax * 2),
    encoding: z.enum(['base58', 'base64']).nullish(),
  })
  .transform(({ offset, bytes, encoding }, context) => {
    const decoded = decodeCompared(bytes, encoding ?? 'base58')
    if (decoded !== undefined) return { offset, bytes: decoded }
    context.addIssue({ code: 'custom', message: 'Invalid param: filter bytes are not in their encoding, or too many' })
    return z.NEVER
  })

/** An account must match all filters. */
export const accountFilters = z
  .array(z.union([z.object({ dataSize: z.number().int().nonnegative() }), z.object({ memcmp: bytesToCompare })]))
  .max(filtersMax)

export type AccountFilter = z.output<typeof accountFilters>[number]

/** True if the data matches all filters. A comparison beyond the end of the data does not match. */
export function matchesFilters(data: Uint8Array, filters: readonly AccountFilter[]): boolean {
  return filters.every((filter) => {
    if ('dataSize' in filter) return data.length === filter.dataSize
    const { offset, bytes } = filter.memcmp
    return sameBytes(data.subarray(offset, offset + bytes.length), bytes)
  })
}

function decodeCompared(text: string, encoding: 'base58' | 'base64'): Uint8Array | undefined {
  try {
    const bytes = encoding === 'base58' ? base58.decode(text) : decodeBase64(text)
    return bytes.length <= comparedBytesMax ? bytes : undefined
  } catch {
    return undefined
  }
}
