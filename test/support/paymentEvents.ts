import type pg from 'pg'
import { z } from 'zod'
import { transactionSpace } from '../../src/payment/paymentReference.ts'
import { readSignature, signatureBytes } from '@tollbook/core/signature'

export interface RecordedBody {
  readonly kind: string
  readonly body: Readonly<Record<string, unknown>>
}

const json = z.record(z.string(), z.unknown())

/** The events of a payment as the ledger holds them, read without the code of the store. */
export async function readPaymentEvents(admin: pg.Client, signature: string): Promise<readonly RecordedBody[]> {
  const read = readSignature(signature)
  if (read === undefined) throw new Error(`not a signature: ${signature}`)
  const id = Buffer.from([transactionSpace, ...signatureBytes(read)])
  const { rows } = await admin.query<{ kind: string; body: Buffer }>('select kind, body from ledger.read($1)', [id])
  return rows.map(({ kind, body }) => ({ kind, body: json.parse(JSON.parse(body.toString('utf8'))) }))
}
