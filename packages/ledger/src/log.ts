/** Log for operators. Any structured logger fits. */
export interface LedgerLog {
  warn(fields: object): void
  error(fields: object): void
}
