import { Command } from 'commander'
import { makeReceiptKey } from './local/home.ts'

export function receiptKeyCommand(): Command {
  return new Command('receipt-key')
    .description('print a new private key for RECEIPT_SIGNING_KEY; same as `key new`')
    .action(() => void process.stdout.write(`${JSON.stringify(makeReceiptKey())}\n`))
}
