import { z } from 'zod'
import type { RailMeta, ToolMeta } from '../../paywall/rail.ts'
import { credentialHeader, decodeJson, encodeJson, type MppChallenge, receiptHeader } from './wire.ts'

/* Encoding of MPP in the `_meta` member of MCP. There `request` is an object, and not base64url. */

const challenge = z.object({ id: z.json(), request: z.json().transform(encodeJson) }).catchall(z.json())
const credential = z.object({ challenge }).catchall(z.json())

export const mppMeta: RailMeta = {
  headersOf({ 'org.paymentauth/credential': sent = '' }) {
    const text = typeof sent === 'string' ? sent : `Payment ${encodeJson(credential.safeParse(sent).data ?? sent)}`
    return text === '' ? {} : { [credentialHeader]: text }
  },
  receiptOf({ [receiptHeader]: receipt }, { 'org.paymentauth/credential': sent }) {
    const challengeId = credential.safeParse(sent).data?.challenge.id ?? ''
    const shown = z.record(z.string(), z.json()).safeParse(decodeJson(receipt ?? '')).data
    return shown === undefined ? {} : { 'org.paymentauth/receipt': { ...shown, challengeId } }
  },
}

export function toolChallenges(challenges: readonly MppChallenge[], description: string | undefined): ToolMeta {
  const shown = challenges.map((each) => ({ ...each, description, request: decodeJson(each.request) }))
  // Remove undefined members, which JSON does not have.
  const plain = z.json().parse(JSON.parse(JSON.stringify(shown)))
  return { 'org.paymentauth/payment-required': { httpStatus: 402, challenges: plain } }
}
