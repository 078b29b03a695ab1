import { z } from 'zod'
import type { RailMeta } from '../../paywall/rail.ts'
import { decodeHeader, encodeHeader, paymentHeader, responseHeader } from './wire.ts'

/* The words of x402 version 2 in `_meta` of MCP (page "MCP transport" of its specification). */

export const toolResponse = 'x402/payment-response'

export const x402Meta: RailMeta = {
  // The specification sends the object. Cloudflare's client sends the header's text.
  headersOf: ({ 'x402/payment': sent }) =>
    sent === undefined ? {} : { [paymentHeader]: typeof sent === 'string' ? sent : encodeHeader(sent) },
  receiptOf: ({ [responseHeader]: response }) =>
    response === undefined ? {} : { [toolResponse]: z.json().parse(decodeHeader(response)) },
}
