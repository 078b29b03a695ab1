/** Where the ledger reports what an operator should know; any structured logger fits. */
export interface LedgerLog {
  warn(fields: object): void
  error(fields: object): void
}
