import type { PayoutEvent } from './auditedEvent.ts'
import type { DatabaseSource } from './databaseSource.ts'
import type { Findings } from './findings.ts'
import type { Journal } from './journal.ts'

/** A payout as its event tells it. There are few: one transaction settles the debts of thousands of payments. */
export interface PayoutSeen {
  readonly signature: string
  readonly planId: string
  readonly part: number
  readonly position: number
  readonly recordedAtMs: number
  /** Base64. */
  readonly leafHash: string
}

const payable =
  /^Liabilities:(?:Provider|Holders|Treasury|(?:Overpaid|RefundsDue|Unmatched):[1-9A-HJ-NP-Za-km-z]{32,44})$/

/** Tokens that left the payment wallet for those whom they are owed to: once each, and never more than is owed. */
export class Payouts {
  readonly #findings: Findings
  readonly #journal: Journal
  readonly #seen: Map<string, PayoutSeen>

  constructor(deps: { readonly findings: Findings; readonly journal: Journal }, seen: readonly PayoutSeen[] = []) {
    this.#findings = deps.findings
    this.#journal = deps.journal
    this.#seen = new Map(seen.map((payout) => [payout.signature, payout]))
  }

  has(signature: string): boolean {
    return this.#seen.has(signature)
  }

  state(): readonly PayoutSeen[] {
    return [...this.#seen.values()]
  }

  /** After its entries have been posted. */
  judge(event: PayoutEvent, recorded: Pick<PayoutSeen, 'position' | 'recordedAtMs' | 'leafHash'>): void {
    const { signature, planId, part, mint, payments } = event
    const { position } = recorded
    const blame = (message: string): void => {
      this.#findings.add('life_impossible', { position, subject: event.stream, message })
    }
    if (event.stream !== `payout:${signature}` || event.version !== 1) blame('a payout is the one event of its stream')
    if (this.has(signature)) blame('the payout is booked already')
    for (const { account, wallet } of payments) {
      const owner = account.split(':')[2] ?? wallet
      if (owner !== wallet) {
        const message = `what is owed to ${owner} was paid to ${wallet}`
        this.#findings.add('owner_differs', { position, subject: account, message })
      }
      const balance = this.#journal.account(mint, account)?.balance ?? 0n
      if (!payable.test(account)) blame(`nothing is paid out of ${account}`)
      if (balance <= 0n) continue
      const message = `${balance} more were paid than was owed`
      this.#findings.add('payout_exceeds', { position, subject: account, message })
    }
    this.#seen.set(signature, { signature, planId, part, ...recorded })
  }

  /** The rows that keep a payout from being recorded twice. */
  async matchRows(source: DatabaseSource): Promise<void> {
    if (!(await source.hasTable('ledger.payouts'))) return
    const rows = await source.rows<PayoutRow>(
      `select signature, plan_id, part, seq, leaf_hash, (extract(epoch from recorded_at) * 1000)::bigint as recorded_ms
       from ledger.payouts`,
    )
    const stored = new Map(rows.map((row) => [row.signature, row]))
    for (const payout of this.#seen.values()) {
      const row = stored.get(payout.signature)
      stored.delete(payout.signature)
      if (row === undefined)
        this.#differs(payout.position, payout.signature, 'the payout has no row: it could be booked again')
      else if (rowText(row) !== eventText(payout)) {
        this.#differs(payout.position, payout.signature, `the row says ${rowText(row)}, the event ${eventText(payout)}`)
      }
    }
    for (const { signature, seq } of stored.values()) this.#differs(Number(seq), signature, 'the row has no event')
  }

  #differs(position: number, subject: string, message: string): void {
    this.#findings.add('payout_differs', { position, subject, message })
  }
}

interface PayoutRow {
  readonly signature: string
  readonly plan_id: string
  readonly part: number
  readonly seq: string
  readonly leaf_hash: Buffer
  readonly recorded_ms: string
}

function rowText({ plan_id: planId, part, seq, leaf_hash: leaf, recorded_ms: ms }: PayoutRow): string {
  return `${planId} part ${part} at ${seq}, ${ms}, ${leaf.toString('base64')}`
}

function eventText({ planId, part, position, recordedAtMs, leafHash }: PayoutSeen): string {
  return `${planId} part ${part} at ${position}, ${recordedAtMs}, ${leafHash}`
}
