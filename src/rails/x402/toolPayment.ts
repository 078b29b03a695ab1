import { z } from 'zod'
import type { RailMeta } from '../../paywall/rail.ts'
import { decodeHeader, encodeHeader, paymentHeader, responseHeader } from './wire.ts'

/* Encoding of x402 version 2 in the `_meta` member of MCP (page "MCP transport" of its specification). */

export const toolResponse = 'x402/payment-response'

export const x402Meta: RailMeta = {
  // Accept an object and text. The specification sends the object, but Cloudflare's client sends the text of the
  // header.
  headersOf: ({ 'x402/payment': sent }) =>
    sent === undefined ? {} : { [paymentHeader]: typeof sent === 'string' ? sent : encodeHeader(sent) },
  receiptOf: ({ [responseHeader]: response }) =>
    response === undefined ? {} : { [toolResponse]: z.json().parse(decodeHeader(response)) },
}
