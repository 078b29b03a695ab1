/** A false assumption in the audit's own code: a defect of the program, not of the ledger. */
export class AuditBug extends Error {
  override readonly name = 'AuditBug'
}

/** Rejects states that only a mistake of the audit itself can cause. Throws `AuditBug`. */
export function invariant(condition: boolean, expectation: string): asserts condition {
  if (!condition) throw new AuditBug(`expected that ${expectation}`)
}
