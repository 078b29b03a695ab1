import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import type { Order } from '../../test/support/ask.ts'
import { debitProof, type OpenedTab } from '../../test/tabs/tabClient.ts'

/** Pays orders by debits over kept connections, with the least work in this process. */
export interface Debtor {
  /** Signs the debits of the next measurement, which must not count. */
  prepare(order: Order): void
  /** One request with the next debit. */
  buy(): Promise<void>
  close(): void
}

const preparedMax = 6_000
const validMs = 9 * 60_000

export function openDebtor(baseUrl: string, tab: OpenedTab): Debtor {
  const agent = new Agent({ keepAlive: true })
  let proofs: string[] = []
  let order: Order = { path: '/' }
  let number = 0
  const sign = () => debitProof(tab, order, { number: ++number, validUntilMs: systemClock.nowMs() + validMs })
  const send = (proof: string) =>
    new Promise<void>((resolve, reject) => {
      const body = order.body === undefined ? undefined : JSON.stringify(order.body)
      const headers = {
        'x-wallet-address': tab.wallet,
        'x-payment-proof': proof,
        ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
      }
      const method = body === undefined ? 'GET' : 'POST'
      const sent = request(`${baseUrl}${order.path}`, { agent, method, headers }, (response) => {
        text(response).then((answer) => {
          assert(response.statusCode === 200, `a debit is answered 200, not ${response.statusCode}: ${answer}`)
          resolve()
        }, reject)
      })
      sent.on('error', reject).end(body)
    })
  return {
    prepare(next) {
      if (next !== order) proofs = []
      order = next
      while (proofs.length < preparedMax) proofs.push(sign())
    },
    buy: () => send(proofs.pop() ?? sign()),
    close: () => agent.destroy(),
  }
}
