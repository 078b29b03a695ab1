import { Fault } from './fault.ts'

/** A row of the ledger, or its signature, has changed since it was written. The service then sells and signs nothing. */
export class LedgerDamage extends Fault {
  override readonly name = 'LedgerDamage'

  constructor(message: string) {
    super(message, { retryable: false })
  }
}
