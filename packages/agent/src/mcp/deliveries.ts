import type { RequestId, Transport } from '@modelcontextprotocol/server'
import type { WalletClient } from '../client/walletClient.ts'
import type { PaymentNote } from '../walletWire.ts'

/** Payments stay open until their answers are written to the host. */
export interface Deliveries {
  /** Notes the payment of a request, which is closed once the answer to this request is written. */
  add(request: RequestId, payment: PaymentNote | undefined): void
}

/**
 * Confirms a payment only after the transport has written its answer, because until then the next call with the same
 * request gets the same answer.
 */
export function watchDeliveries(
  transport: Transport,
  wallet: WalletClient,
  report: (line: string) => void,
): Deliveries {
  const waiting = new Map<RequestId, PaymentNote[]>()
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    await send(message, options)
    // A message with a method is a request or a notification, not an answer.
    const id = 'method' in message ? undefined : message.id
    const payments = id === undefined ? [] : (waiting.get(id) ?? [])
    if (id !== undefined) waiting.delete(id)
    for (const payment of payments) wallet.received(payment).catch((error: unknown) => report(String(error)))
  }
  return {
    add(request, payment) {
      if (payment !== undefined) waiting.set(request, [...(waiting.get(request) ?? []), payment])
    },
  }
}
