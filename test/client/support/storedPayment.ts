import type { PendingPayment } from '@tollbook/client/pendingPayment'

/** A stored payment, for tests in which no service reads its proof. */
export const storedPayment: PendingPayment = {
  format: 'tollbook-payment-1',
  request: { method: 'GET', url: 'https://api.example.com/a', headers: [] },
  wallet: 'w',
  form: 'bound',
  signature: 's',
  proof: 'p',
  idempotencyKey: 'k',
  transaction: 'AAAA',
  lastValidBlockHeight: 1,
  mint: 'm',
  costBaseUnits: '5',
}
