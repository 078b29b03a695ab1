import { z } from 'zod'
import { encodeBase64, readBase64 } from '@tollbook/core/base64'
import { utf8Bytes, utf8Text } from '@tollbook/core/bytes'
import { isWellFormed } from '@tollbook/core/canonicalJson'
import { parseJson } from '@tollbook/core/json'

export const record = z.record(z.string(), z.json()).refine(isWellFormed)
const toolCall = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]),
  method: z.literal('tools/call'),
  params: z.looseObject({ name: z.string(), arguments: record.default({}), _meta: record.default({}) }),
})
export type CallMessage = z.infer<typeof toolCall>

export function readCall(text: string): CallMessage | undefined {
  return text.includes('"tools/call"') ? toolCall.safeParse(parseJson(text)).data : undefined
}

// Send every call with the same id, so that a repeated call is the same request.
const start = '{"jsonrpc":"2.0","id":0,"method":"tools/call","params":'

export function writeCall(params: CallMessage['params']): Uint8Array {
  return utf8Bytes(`${start}${JSON.stringify(params)}}`)
}

export function readWrittenCall(body: Uint8Array): CallMessage | undefined {
  return utf8Text(body.subarray(0, start.length)) === start ? readCall(utf8Text(body)) : undefined
}

export function addToMeta(bodyBase64: string, members: z.infer<typeof record>): string | undefined {
  const call = readWrittenCall(readBase64(bodyBase64) ?? new Uint8Array())
  if (call === undefined) return undefined
  const { params } = call
  return encodeBase64(writeCall({ ...params, _meta: { ...params._meta, ...members } }))
}
