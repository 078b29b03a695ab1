import { fromBase64Url } from '@tollbook/core/bytes'
import { parseJson } from './readBody.ts'

/**
 * Reads the receipt of an answer without an envelope, such as a picture, from its header. Undefined if there is no
 * receipt. Does not verify the receipt.
 *
 * @example
 *   import { readReceiptHeader, verifyReceipt } from '@tollbook/client'
 *
 *   export async function isReceiptValid(response: Response, keys: unknown): Promise<boolean> {
 *     return (await verifyReceipt({ receipt: readReceiptHeader(response.headers), keys })).valid
 *   }
 */
export function readReceiptHeader(headers: Headers): Readonly<Record<string, unknown>> | undefined {
  const jws = headers.get('tollbook-receipt')
  const payload = fromBase64Url(jws?.split('.')[1] ?? '')
  const receipt = payload === undefined ? undefined : parseJson(payload)
  return typeof receipt === 'object' && receipt !== null ? { ...receipt, jws } : undefined
}
