import { Fault } from './fault.ts'

/** The book is not what was written: a row, or what was signed over it, has changed. Nothing is sold or signed on top of it. */
export class LedgerDamage extends Fault {
  override readonly name = 'LedgerDamage'

  constructor(message: string) {
    super(message, { retryable: false })
  }
}
