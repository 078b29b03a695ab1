import { expect, test } from 'vitest'
import { reportProgress } from '@tollbook/client/command/payReport'
import type { PendingPayment } from '@tollbook/client/pendingPayment'

const payment: PendingPayment = {
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
const waiting = { kind: 'waiting', payment, attempt: 1 } as const

test('a wait is printed at a terminal, in seconds and with the last answer', () => {
  const lines: string[] = []
  const streams = {
    stdout: { write: () => expect.unreachable('progress is not for stdout'), isTTY: true },
    stderr: { write: (text: string) => lines.push(text) },
  }
  const lastAnswer = { status: 503, code: 'NOT_READY', reason: undefined, body: {} }
  reportProgress(streams, { ...waiting, delayMs: 2_000, lastAnswer })
  reportProgress(streams, { ...waiting, delayMs: 500, lastAnswer: undefined })
  expect(lines).toEqual([
    '503 NOT_READY: the same payment again in 2 s\n',
    'the answer got lost: the same payment again in 0.5 s\n',
  ])
})
