import { readAddress } from '@tollbook/core/address'
import { decodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { verifyEd25519 } from '@tollbook/core/ed25519'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Log } from '../primitives/log.ts'
import { type Answer, jsonAnswer } from '../paywall/answer.ts'
import type { FreeAnswer, FreeRequest, FreeRoute } from './freeRoutes.ts'
import { errorAnswer, invalidRequest } from './transportError.ts'

/** State of a payment for its payer. Undefined when the ledger has no payment of this wallet under the signature. */
export type FindPaymentStatus = (question: {
  readonly signature: string
  readonly wallet: string
}) => Promise<Readonly<Record<string, Json>> | undefined>

export interface PaymentStatusDeps {
  readonly clock: Clock
  readonly log: Log
  /** Name of the service in the text that a wallet signs, so that no other service can use the signature. */
  readonly origin: string
  readonly findStatus: FindPaymentStatus
}

/** The payer's own view of a payment. Free: the holder of the paying wallet proves that by a signed challenge. */
export function paymentStatusRoute(deps: PaymentStatusDeps): FreeRoute {
  return { path: '/api/payments/:signature', serve: (request) => serveStatus(deps, request) }
}

// Clocks of payers differ, and a person signs by hand.
const validMs = 5 * 60 * 1000

/** The text that the wallet signs. It names service, payment and end, so it opens nothing else. */
function challengeOf(origin: string, signature: string, expiresAt: string): string {
  return `${origin} asks: show the payment ${signature} until ${expiresAt}`
}

async function serveStatus(deps: PaymentStatusDeps, { segment, query, header }: FreeRequest): Promise<FreeAnswer> {
  if (query !== '') return invalidRequest([{ field: 'query', message: 'must be empty' }])
  if (!isSignature(segment)) return invalidRequest([{ field: 'signature', message: 'must be a Solana signature' }])
  const nowMs = deps.clock.nowMs()
  const given = readAuthorization(header('authorization') ?? '')
  if (given === undefined) return askForSignature(deps, segment, nowMs)
  const expiresAtMs = Date.parse(given.expiresAt)
  const isInTime = expiresAtMs > nowMs && expiresAtMs <= nowMs + validMs + clockToleranceMs
  const text = new TextEncoder().encode(challengeOf(deps.origin, segment, given.expiresAt))
  const isSigned = verifyEd25519({ publicKey: given.publicKey, message: text, signature: given.signature })
  if (!isInTime || !isSigned) return askForSignature(deps, segment, nowMs)
  try {
    const status = await deps.findStatus({ signature: segment, wallet: given.wallet })
    // The same for another wallet's payment: who paid is not told to others.
    if (status === undefined)
      return errorAnswer('NOT_FOUND', 'the ledger has no payment of this wallet under this signature')
    return jsonAnswer(200, JSON.stringify({ success: true, data: status }), { 'cache-control': 'private, no-store' })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    deps.log.warn({ event: 'payment_status_unreadable', error: describeError(error) })
    const body = { error: 'the ledger did not answer; try again in 2 s', code: 'ENDPOINT_UNAVAILABLE' }
    return jsonAnswer(503, JSON.stringify(body), { 'retry-after': '2' })
  }
}

const clockToleranceMs = 60_000

function askForSignature({ origin }: PaymentStatusDeps, signature: string, nowMs: number): Answer {
  const expiresAt = isoTime(nowMs + validMs)
  const challenge = challengeOf(origin, signature, expiresAt)
  const error =
    'sign the challenge with the wallet that paid, and repeat the request with `authorization: Wallet <wallet>.<expiresAt>.<signature>`; the signature is base58'
  const body = JSON.stringify({ error, code: 'UNAUTHORIZED', challenge, expiresAt })
  return jsonAnswer(401, body, { 'www-authenticate': 'Wallet', 'cache-control': 'no-store' })
}

const signatureBytes = 64
const authorizationForm =
  /^Wallet ([1-9A-HJ-NP-Za-km-z]{32,44})\.(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\.([1-9A-HJ-NP-Za-km-z]{64,88})$/

function readAuthorization(text: string) {
  const [, walletText = '', expiresAt = '', signatureText = ''] = authorizationForm.exec(text) ?? []
  const wallet = readAddress(walletText)
  const publicKey = wallet === undefined ? undefined : decodeBase58(wallet, 32)
  const signature = decodeBase58(signatureText, signatureBytes)
  if (wallet === undefined || publicKey === undefined || signature === undefined) return undefined
  return { wallet, publicKey, expiresAt, signature }
}

function isSignature(text: string): boolean {
  return text.length <= 88 && decodeBase58(text, signatureBytes) !== undefined
}
