import { AuditFault } from './auditFault.ts'
import { ownCopy } from './priceReader.ts'

// Endpoints and mints; a ledger with more of them than this is not one of ours.
const namesMax = 100_000

/** Numbers for names that occur again and again. */
export class NumberedNames {
  readonly #numbers = new Map<string, number>()
  readonly #names: string[] = []

  constructor(names: readonly string[] = []) {
    for (const name of names) this.numberOf(name)
  }

  numberOf(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    if (this.#names.length >= namesMax)
      throw new AuditFault(`the ledger names more than ${namesMax} endpoints and mints`, { retryable: false })
    const own = ownCopy(name)
    this.#numbers.set(own, this.#names.length)
    return this.#names.push(own) - 1
  }

  nameOf(number: number): string {
    return this.#names[number] ?? ''
  }

  all(): readonly string[] {
    return this.#names
  }
}
