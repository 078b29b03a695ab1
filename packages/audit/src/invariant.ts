/** An assumption of the audit's own code that does not hold: a defect of the program, not of the ledger. */
export class AuditBug extends Error {
  override readonly name = 'AuditBug'
}

/** Rejects states that only a mistake of the audit itself can cause. Throws `AuditBug`. */
export function invariant(condition: boolean, expectation: string): asserts condition {
  if (!condition) throw new AuditBug(`expected that ${expectation}`)
}

/** Closes a switch: a new member of the union does not compile until it has its own case. */
export function assertNever(value: never): never {
  throw new AuditBug(`expected that every case is handled, got ${JSON.stringify(value)}`)
}
