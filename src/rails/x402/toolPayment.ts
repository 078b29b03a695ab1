import { z } from 'zod'
import type { RailMeta } from '../../paywall/rail.ts'
import { decodeHeader, encodeHeader, paymentHeader, responseHeader } from './wire.ts'

/* The words of x402 version 2 in `_meta` of MCP (page "MCP transport" of its specification). */

export const toolMeta = z.record(z.string(), z.json())

export const toolResponse = 'x402/payment-response'
const toolPayment = 'x402/payment'

export const x402Meta: RailMeta = {
  headersOf({ [toolPayment]: payment }) {
    if (payment === undefined) return {}
    // The specification sends the object. Cloudflare's client sends the header's text.
    return { [paymentHeader]: typeof payment === 'string' ? payment : encodeHeader(payment) }
  },
  receiptOf({ [responseHeader]: response }) {
    return response === undefined ? {} : { [toolResponse]: toolMeta.parse(decodeHeader(response)) }
  },
}
