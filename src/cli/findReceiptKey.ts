import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '@tollbook/core/fault'
import { readConfig, type ReceiptSigningKey } from '../config.ts'
import { openHome } from './local/home.ts'

/** The key of local mode if the operator has configured none. */
export async function findReceiptKey(home: string): Promise<ReceiptSigningKey> {
  const { receiptSigningKey } = readConfig()
  if (receiptSigningKey !== undefined) return receiptSigningKey
  // Check the file first, because `openHome` would create a new key, and no checkpoint is signed with a new key.
  const isLocal = await readFile(join(home, 'keys', 'receipt-key.json')).then(
    () => true,
    () => false,
  )
  if (isLocal) return (await openHome(home)).receiptKey()
  throw new Fault(
    'RECEIPT_SIGNING_KEY is missing, and a statement is signed with it; the service signs one at GET /api/finance/closing?month=…',
    { retryable: false },
  )
}
