import { decodeBase58 } from '@tollbook/core/base58'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../machine/log.ts'
import type { FreeAnswer, FreeRequest, FreeRoute } from '../transport/freeRoute.ts'
import { errorAnswer, invalidRequest } from '../transport/transportError.ts'
import { privateData, unlessSilent } from './unlessSilent.ts'
import { askForSignature, readWallet } from './walletChallenge.ts'

/** Finds the state of a payment. Undefined if the ledger has no payment of this wallet with the signature. */
export type FindPaymentStatus = (question: {
  readonly signature: string
  readonly wallet: string
}) => Promise<Readonly<Record<string, Json>> | undefined>

export interface PaymentStatusDeps {
  readonly clock: Clock
  readonly log: Log
  /** Name of the service in the text that a wallet signs. Without it, another service could reuse the signature. */
  readonly origin: string
  readonly findStatus: FindPaymentStatus
}

/**
 * Creates the route that shows a payment to its payer. The route is free. A signed challenge proves that the caller
 * controls the paying wallet.
 */
export function paymentStatusRoute(deps: PaymentStatusDeps): FreeRoute {
  return { path: '/api/payments/:signature', serve: (request) => serveStatus(deps, request) }
}

async function serveStatus(deps: PaymentStatusDeps, { segment, query, header }: FreeRequest): Promise<FreeAnswer> {
  if (query !== '') return invalidRequest([{ field: 'query', message: 'must be empty' }])
  if (!isSignature(segment)) return invalidRequest([{ field: 'signature', message: 'must be a Solana signature' }])
  const question = { origin: deps.origin, purpose: `show the payment ${segment}`, nowMs: deps.clock.nowMs() }
  const given = readWallet({ ...question, authorization: header('authorization') })
  if (given === undefined) return askForSignature(question, 'the wallet that paid')
  return unlessSilent({ log: deps.log, event: 'payment_status_unreadable' }, async () => {
    const status = await deps.findStatus({ signature: segment, wallet: given.wallet })
    // Send the same answer for another wallet's payment, so that its payer is not disclosed.
    return status === undefined
      ? errorAnswer('NOT_FOUND', 'the ledger has no payment of this wallet under this signature')
      : privateData(status)
  })
}

const signatureBytes = 64

function isSignature(text: string): boolean {
  return text.length <= 88 && decodeBase58(text, signatureBytes) !== undefined
}
