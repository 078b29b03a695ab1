import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import type { RailMeta, ToolMeta } from '../../paywall/rail.ts'
import {
  credentialHeader,
  decodeJson,
  encodeJson,
  intent,
  method,
  type MppChallenge,
  preferenceHeader,
  receiptHeader,
} from './wire.ts'

/* The words of MPP in `_meta` of MCP, where `request` is an object and not base64url. */

const toolCredential = 'org.paymentauth/credential'
const toolReceipt = 'org.paymentauth/receipt'
const record = z.record(z.string(), z.json())
const credentialShape = z
  .looseObject({ challenge: z.looseObject({ id: z.json(), request: z.json() }) })
  .catchall(z.json())

/** Returns the challenges of an unpaid call. */
export function toolChallenges(challenges: readonly MppChallenge[], description: string | undefined): ToolMeta {
  const shown = challenges.map(({ digest, ...members }) => ({
    ...members,
    ...(digest === undefined ? {} : { digest }),
    ...(description === undefined ? {} : { description }),
    request: record.parse(decodeJson(members.request)),
  }))
  return { 'org.paymentauth/payment-required': { httpStatus: 402, challenges: shown } }
}

export const mppMeta: RailMeta = {
  headersOf({ [toolCredential]: sent }) {
    const marker = { [preferenceHeader]: `${method}/${intent}` }
    if (sent === undefined) return marker
    if (typeof sent === 'string') return { ...marker, [credentialHeader]: sent }
    const { success, data } = credentialShape.safeParse(sent)
    const credential: Json = success
      ? { ...data, challenge: { ...data.challenge, request: encodeJson(data.challenge.request) } }
      : sent
    return { ...marker, [credentialHeader]: `Payment ${encodeJson(credential)}` }
  },
  receiptOf({ [receiptHeader]: receipt }, { [toolCredential]: sent }) {
    if (receipt === undefined) return {}
    const challengeId = credentialShape.safeParse(sent).data?.challenge.id ?? ''
    return { [toolReceipt]: { ...record.parse(decodeJson(receipt)), challengeId } }
  },
}
