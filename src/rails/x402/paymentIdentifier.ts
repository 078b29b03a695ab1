import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { type Refusal, refuseField } from '@tollbook/core/refusal'

/* The extension `payment-identifier`. The client names its payment, and gets the stored answer for the same name. */

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

/** Returns the payment's name from its extensions. Undefined if the client only repeats the declaration. */
export function readIdentifier(extensions: unknown): string | Refusal | undefined {
  const id = shape.safeParse(extensions).data?.[paymentIdentifier]?.info.id
  if (id === undefined) return undefined
  const parsed = identifier.safeParse(id)
  if (parsed.success) return parsed.data
  const must = `must be ${charactersMin} to ${charactersMax} characters of A-Z, a-z, 0-9, _ and -`
  return refuseField(`extensions.${paymentIdentifier}.info.id`, must)
}
