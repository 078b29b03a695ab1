import { Fault } from './fault.ts'

/** A row of the ledger or its signature was changed after it was written. The service then stops selling and signing. */
export class LedgerDamage extends Fault {
  override readonly name = 'LedgerDamage'

  constructor(message: string) {
    super(message, { retryable: false })
  }
}
