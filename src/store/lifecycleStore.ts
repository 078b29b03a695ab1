import { sql } from 'kysely'
import { assert, assertNever, assertPresent } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { LedgerKernel } from '@tollbook/ledger/port'
import { type Account, accounts, prepaidOn } from '../accounting/account.ts'
import type { PaymentState } from '../payment/payment.ts'
import type { OpenKind, OpenPayment, OpenQuestion, PaymentLifecycle } from '../payment/paymentLifecycle.ts'
import { type PaymentReference, referenceOfStream, streamIdOf } from '../payment/paymentReference.ts'
import { type Database, readOrFault, assertRow } from './database.ts'
import type { Election, Lease } from './election.ts'
import { foldPayment } from './foldPayment.ts'
import { advanceScan, readScanPlace } from './transferScan.ts'

export interface LifecycleDeps {
  readonly database: Database
  readonly kernel: LedgerKernel
  readonly election: Election
}

/** The lease guards `advanceScan` against an instance that was replaced. */
export function createPaymentLifecycle(deps: LifecycleDeps, lease?: Lease): PaymentLifecycle {
  const { database, election } = deps
  return {
    findOpen: (question, max) => findOpen(database, question, max),
    loadPayments: (references) => loadPayments(deps.kernel, references),
    findAccounted: (references) => findAccounted(database, references),
    readScanPlace: (tokenAccount) => readScanPlace(database, tokenAccount),
    advanceScan: (tokenAccount, place) => advanceScan(database, { tokenAccount, place, lease }),
    async exposureBaseUnits(mint) {
      const exposedBaseUnits = await balanceOf(database, mint, accounts.exposed)
      assert(exposedBaseUnits >= 0n, 'the exposure is not negative')
      return exposedBaseUnits
    },
    undeliveredBaseUnits: (mint) => balanceOf(database, mint, accounts.tokensToDeliver),
    prepaidBaseUnits: async (tab, mint) => -(await balanceOf(database, mint, prepaidOn(tab))),
    followOpenWork: () => followOpenWork(database),
    async runElected(name, work) {
      const ran = await election.run(name, async (taken) => {
        await work(createPaymentLifecycle(deps, taken))
        return true
      })
      return ran === true
    },
  }
}

// Longest permitted lease: twice the maximum of HANDLER_TIMEOUT_MS (src/config/saleConfig.ts), in minutes.
const leaseMaxMinutes = 10

async function findOpen(database: Database, question: OpenQuestion, max: number): Promise<readonly OpenPayment[]> {
  assert(max > 0, 'a page of open work has a size')
  const { kind, after } = question
  const open = database
    .selectFrom('work.open')
    .select(['id', 'due_at', 'stream'])
    .where('queue', '=', queues[kind])
    .where(isDue(question))
    .orderBy('due_at')
    .orderBy('stream')
    .limit(max)
  // The position orders payments of one time, so that a page continues exactly after the last one.
  const page =
    after === undefined
      ? open
      : open.where(sql<boolean>`(due_at, stream) > (${new Date(after.createdAtMs)}, ${after.position})`)
  const rows = await readOrFault('open payments', () => page.execute())
  return rows.map(({ id, due_at: dueAt, stream }) => ({
    reference: assertPresent(referenceOfStream(id), 'open work is of payments'),
    createdAtMs: dueAt.getTime(),
    position: stream,
  }))
}

const queues: Readonly<Record<OpenKind['kind'], string>> = {
  awaiting_finality: 'finality',
  lease_ended: 'lease',
  submitted: 'submitted',
  undelivered: 'undelivered',
}

function isDue(question: OpenKind) {
  switch (question.kind) {
    case 'awaiting_finality':
      return sql<boolean>`true`
    case 'lease_ended':
      // Include leases that end later than any permitted lease, because they were taken before the database's clock was
      // set back.
      return sql<boolean>`(due_at <= now() or due_at > now() + ${leaseMaxMinutes}::float8 * interval '1 minute')`
    case 'submitted':
      return sql<boolean>`due_at > now() - ${question.forMsMax}::float8 * interval '1 millisecond'`
    case 'undelivered':
      return sql<boolean>`due_at <= now() - ${question.forMs}::float8 * interval '1 millisecond'`
    default:
      return assertNever(question)
  }
}

async function loadPayments(kernel: LedgerKernel, references: readonly PaymentReference[]) {
  assert(new Set(references).size === references.length, 'each payment is asked for once')
  const streams = await kernel.readMany(references.map(streamIdOf))
  assert(streams.length === references.length, 'each stream is answered')
  const found = new Map(references.map((reference, index) => [reference, streams[index] ?? []]))
  return {
    get(reference: PaymentReference): PaymentState | undefined {
      const recorded = found.get(reference) ?? []
      return recorded.length === 0 ? undefined : foldPayment(recorded)
    },
  }
}

/**
 * States without an arrived payment. The ledger has not recorded the arrival of a submitted payment yet, and the chain
 * has dropped a reversed payment.
 */
const unaccounted: ReadonlySet<string> = new Set(['submitted', 'reversed'])

export async function findAccounted(
  database: Database,
  references: readonly PaymentReference[],
): Promise<ReadonlySet<PaymentReference>> {
  if (references.length === 0) return new Set()
  const ids = references.map((reference) => Buffer.from(streamIdOf(reference)))
  const rows = await readOrFault('which transfers are accounted for', () =>
    database.selectFrom('ledger.streams').select(['id', 'kind', 'state']).where('id', 'in', ids).execute(),
  )
  const accounted = rows.filter(({ kind, state }) => kind !== 'payment' || !unaccounted.has(state))
  return new Set(accounted.flatMap(({ id }) => referenceOfStream(id) ?? []))
}

async function balanceOf(database: Database, mint: Address, account: Account): Promise<bigint> {
  const row = await readOrFault(`the balance of ${account}`, () =>
    database
      .selectFrom('ledger.accounts')
      .select('balance')
      .where('mint', '=', mint)
      .where('name', '=', account)
      .executeTakeFirst(),
  )
  return BigInt(row?.balance ?? 0)
}

// Maximum of events per step: following this many events takes at most 0.1 s. The job runs several steps.
const followedMax = 5_000

/** Returns how many events remain. Adds nothing while another instance is updating the table. */
async function followOpenWork(database: Database): Promise<number> {
  const { behind, followed } = await assertRow(database, 'open work')<{ behind: number; followed: number }>`
    select work.follow(${followedMax}) as followed,
      greatest(0, (select seq from ledger.head) - (select upto_seq from work.progress)) as behind`
  return Math.max(0, behind - followed)
}
