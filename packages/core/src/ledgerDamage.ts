import { Fault } from './fault.ts'

/**
 * The ledger differs from what was written: a row, or its signature,
 * has changed. Nothing is sold or signed on top of it.
 */
export class LedgerDamage extends Fault {
  override readonly name = 'LedgerDamage'

  constructor(message: string) {
    super(message, { retryable: false })
  }
}
