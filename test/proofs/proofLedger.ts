import pg from 'pg'

/** Sums over a ledger that no proof may change. */
export interface ProofLedger {
  /** Deliveries, on chain payments and on tabs. */
  readonly fulfilled: number
  /** Payments that were fulfilled. */
  readonly payments: number
  readonly unbalanced: number
  readonly gaps: number
}

export async function readProofLedger(adminUrl: string): Promise<ProofLedger> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  const { rows } = await client.query<ProofLedger>(`
    select (select count(*)::int from ledger.events where kind in ('RequestFulfilled', 'TabCaptured')) as fulfilled,
      (select count(*)::int from ledger.payments where state in ('fulfilled', 'fulfilled.final')) as payments,
      (select count(*)::int from (select from ledger.entries group by seq, mint having sum(amount) <> 0) u) as unbalanced,
      (select count(*)::int from (select seq, row_number() over (order by seq) as n from ledger.events) e where seq <> n) as gaps`)
  await client.end()
  return rows[0] ?? { fulfilled: 0, payments: 0, unbalanced: -1, gaps: -1 }
}
