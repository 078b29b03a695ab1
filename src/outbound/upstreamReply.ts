import { z } from 'zod'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import type { Reply } from './upstreamRequest.ts'

/** JSON that does not match the adapter's schema is a failure of the provider. */
export function readJson<T>(reply: Reply, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(parseJson(reply))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new UpstreamFailure('bad_payload', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'unreadable'}`)
}

/** Skips items that do not match, so that a malformed item does not make the other items unusable. */
export function readableItems<T>(item: z.ZodType<T>) {
  return z.array(z.unknown()).transform((items) =>
    items.flatMap((one): T[] => {
      const parsed = item.safeParse(one)
      return parsed.success ? [parsed.data] : []
    }),
  )
}

/** Parses the body, for adapters that first check it for an error. */
export function parseJson({ text, status }: Reply): unknown {
  try {
    return JSON.parse(text, halfOfPair.test(text) ? wellFormed : undefined)
  } catch {
    // Omit the cause, because it quotes the body, and bodies must not be logged.
    throw new UpstreamFailure('bad_payload', `no JSON under HTTP ${status}`)
  }
}

// Half of a surrogate pair has no UTF-8 encoding, so an answer with it could be neither recorded nor sold.
const halfOfPair = /\\ud[89a-f]/i
const wellFormed = (_name: string, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)

/**
 * Ignores the status. Undefined if the body is not a JSON object, or does not match the schema of an error. Throws for
 * a broken JSON object.
 */
export function errorIn<T>(reply: Reply, schema: z.ZodType<T>): T | undefined {
  return reply.text.trimStart().startsWith('{') ? schema.safeParse(parseJson(reply)).data : undefined
}

/**
 * Adapters call this after they have checked the body, because many providers report errors with status 200. `on404` is
 * `bad_payload` for providers that never use 404 for unknown items: a 404 then means a wrong address.
 */
export function refuseStatus(reply: Reply, on404: 'not_found' | 'bad_payload' = 'not_found'): void {
  const { status } = reply
  refuseAccess(reply)
  if (status === 404) throw new UpstreamFailure(on404, 'HTTP 404')
  if (status < 200 || status > 299) throw new UpstreamFailure('bad_payload', `HTTP ${status}`)
}

/** Throws for a status that refuses access, independent of the body. */
export function refuseAccess({ status }: Reply): void {
  if (status === 401 || status === 402) throw new UpstreamFailure('auth', `key, plan or quota: HTTP ${status}`)
  if (status === 403 || status === 451) throw new UpstreamFailure('blocked', `refused us: HTTP ${status}`)
}
