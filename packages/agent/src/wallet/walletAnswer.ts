import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { formatUsd } from '../attoUsd.ts'
import { type AnswerKind, kindHeader, paymentHeader, type PaymentNote, type Refusal } from '../walletWire.ts'
import type { Purchase } from './purchases.ts'

// Headers that are not passed on: those of the connection to the service, cookies, and those that only the wallet may
// set.
const dropped = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'set-cookie',
  'trailer',
  'transfer-encoding',
  'upgrade',
  kindHeader,
  paymentHeader,
])

/**
 * Sends the answer of the service. The payment is in a header, so that the body stays that of the service and can be
 * streamed.
 */
export async function sendPurchase(
  response: ServerResponse,
  { response: answer, payment, cost }: Purchase,
): Promise<void> {
  for (const [name, value] of answer.headers) if (!dropped.has(name)) response.setHeader(name, value)
  response.setHeader(kindHeader, 'answer' satisfies AnswerKind)
  if (payment !== undefined) {
    const { signature, mint } = payment
    const note: PaymentNote = { signature, mint, baseUnits: cost.baseUnits.toString(), usd: formatUsd(cost.attoUsd) }
    response.setHeader(paymentHeader, JSON.stringify(note))
  }
  response.writeHead(answer.status)
  if (answer.body === null) response.end()
  else await pipeline(answer.body, response)
}

export function sendJson(
  response: ServerResponse,
  kind: AnswerKind,
  { status, body }: { status: number; body: object },
): void {
  response.writeHead(status, { 'content-type': 'application/json', [kindHeader]: kind })
  response.end(JSON.stringify(body))
}

/** Front ends detect a refusal by `kindHeader` and not by its status, because a service may answer 409 too. */
export function sendRefusal(response: ServerResponse, body: Refusal): void {
  sendJson(response, 'refusal', { status: 409, body })
}
