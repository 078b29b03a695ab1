import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { type Refusal, refuseField } from '@tollbook/core/refusal'

/* The x402 extension `payment-identifier`: a repeated request with the same key gets the stored answer. */

export const paymentIdentifier = 'payment-identifier'

const charactersMin = 16
const charactersMax = 128
const characters = '^[a-zA-Z0-9_-]+$'

export const declaration: Json = {
  info: { required: false },
  schema: {
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: charactersMin, maxLength: charactersMax, pattern: characters },
    },
    required: ['required'],
  },
}

const shape = z.object({ [paymentIdentifier]: z.object({ info: z.object({ id: z.unknown() }) }) })
const identifier = z.string().min(charactersMin).max(charactersMax).regex(new RegExp(characters))

/** Undefined if the client sends no identifier. A refusal if the identifier is malformed. */
export function readIdentifier(extensions: unknown): string | Refusal | undefined {
  const id = shape.safeParse(extensions).data?.[paymentIdentifier]?.info.id
  if (id === undefined) return undefined
  const parsed = identifier.safeParse(id)
  if (parsed.success) return parsed.data
  const must = `must be ${charactersMin} to ${charactersMax} characters of A-Z, a-z, 0-9, _ and -`
  return refuseField(`extensions.${paymentIdentifier}.info.id`, must)
}
