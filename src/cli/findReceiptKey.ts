import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import { readConfig, type ReceiptSigningKey } from '../config.ts'
import { openHome } from './local/home.ts'

/** Returns the configured key, or else the key of local mode. Throws a `UsageProblem` if there is neither. */
export async function findReceiptKey(home: string): Promise<ReceiptSigningKey> {
  const { receiptSigningKey } = readConfig()
  if (receiptSigningKey !== undefined) return receiptSigningKey
  // Check the file first, because `openHome` would create a new key, and no checkpoint is signed with a new key.
  const isLocal = await readFile(join(home, 'keys', 'receipt-key.json')).then(
    () => true,
    () => false,
  )
  if (isLocal) return (await openHome(home)).receiptKey()
  throw new UsageProblem(
    'RECEIPT_SIGNING_KEY',
    'is missing: the key that signs the statement; the service signs one at GET /api/finance/closing?month=…',
  )
}
