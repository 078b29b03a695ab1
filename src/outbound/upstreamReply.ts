import { z } from 'zod'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import type { Reply } from './upstreamRequest.ts'

/** Reads the JSON of a reply in the shape that the adapter needs. Any other shape is a failure of the provider. */
export function readJson<T>(reply: Reply, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(parseJson(reply))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new UpstreamFailure('bad_payload', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'unreadable'}`)
}

/** Reads a list and skips items of another shape, so that one malformed item does not cost the others. */
export function readableItems<T>(item: z.ZodType<T>) {
  return z.array(z.unknown()).transform((items) =>
    items.flatMap((one): T[] => {
      const parsed = item.safeParse(one)
      return parsed.success ? [parsed.data] : []
    }),
  )
}

/** Parses any JSON, for adapters that first check for an error in the body. */
export function parseJson({ text, status }: Reply): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Omit the cause: it quotes the body, and bodies must not reach logs.
    throw new UpstreamFailure('bad_payload', `no JSON under HTTP ${status}`)
  }
}

/** Returns an error in the body, whatever the status; undefined if there is none. */
export function errorIn<T>(reply: Reply, schema: z.ZodType<T>): T | undefined {
  return reply.text.trimStart().startsWith('{') ? schema.safeParse(parseJson(reply)).data : undefined
}

/**
 * Throws for statuses that are errors at every provider. Adapters call it after reading the body, because many errors
 * come under 200. For providers that do not use 404 for unknown items, a 404 means a wrong address: `bad_payload`.
 */
export function refuseStatus(reply: Reply, on404: 'not_found' | 'bad_payload' = 'not_found'): void {
  const { status } = reply
  refuseAccess(reply)
  if (status === 404) throw new UpstreamFailure(on404, 'HTTP 404')
  if (status < 200 || status > 299) throw new UpstreamFailure('bad_payload', `HTTP ${status}`)
}

/** Throws for statuses with which a provider refuses access, whatever the body is. */
export function refuseAccess({ status }: Reply): void {
  if (status === 401 || status === 402) throw new UpstreamFailure('auth', `key, plan or quota: HTTP ${status}`)
  if (status === 403 || status === 451) throw new UpstreamFailure('blocked', `refused us: HTTP ${status}`)
}
