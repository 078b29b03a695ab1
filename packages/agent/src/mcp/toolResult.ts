import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { utf8Text } from '@tollbook/core/bytes'
import { parseJson } from '@tollbook/core/json'
import { readRefusal, type WholeAnswer } from '../client/walletClient.ts'
import { quoteNote, type Refusal } from '../walletWire.ts'
import { cleanText, markServiceText } from './serviceText.ts'

export function jsonResult(value: unknown, isError = false): CallToolResult {
  return { isError, content: [{ type: 'text', text: JSON.stringify(value) }] }
}

/** The wallet's own statement is first, then the marked text of the service. */
export function answerResult(host: string, answer: WholeAnswer): CallToolResult {
  if (answer.kind === 'refusal') return refusalResult(host, readRefusal(answer))
  if (answer.kind === 'quote') {
    const { usd, baseUnits, mintName, mint, payTo, protocol } = quoteNote.parse(JSON.parse(utf8Text(answer.bytes)))
    return jsonResult({ priceUsd: usd, baseUnits, token: mintName, mint, payTo, protocol })
  }
  const { status, payment } = answer
  const paid = payment === undefined ? 'nothing was paid' : { usd: payment.usd, signature: payment.signature }
  const body = markServiceText(host, withoutReceipt(utf8Text(answer.bytes)))
  return {
    isError: status >= 400,
    content: [
      { type: 'text', text: JSON.stringify({ status, paid }) },
      { type: 'text', text: body },
    ],
  }
}

const sale = z.object({
  success: z.literal(true),
  data: z.unknown(),
  receipt: z.object({}),
  meta: z.unknown().optional(),
})

/** Drops the receipt, because it is long and the tool `receipts` lists it. */
function withoutReceipt(text: string): string {
  const { data } = sale.safeParse(parseJson(text))
  return data === undefined ? text : JSON.stringify({ data: data.data, meta: data.meta })
}

function refusalResult(host: string, { code, message, details, quote, signature }: Refusal): CallToolResult {
  const text = cleanText(JSON.stringify({ refused: code, message, quote, signature }))
  const content: CallToolResult['content'] = [{ type: 'text', text }]
  if (details !== undefined) content.push({ type: 'text', text: markServiceText(host, details) })
  return { isError: true, content }
}
