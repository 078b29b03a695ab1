import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import { Fault } from '@tollbook/core/fault'
import { type Signature, signatureBytes, signatureOfBytes } from '@tollbook/core/signature'
import type { Log } from '../machine/log.ts'
import { type Database, openDatabase, assertRow, readRows } from './database.ts'
import { checkSchemaVersion } from './schemaVersion.ts'

/**
 * Signatures of the fee payer in `signer.signatures`. Functions of the database enforce the budgets, so that several
 * signers with one key decide as one.
 */
export interface SignatureStore {
  find(question: FindQuestion): Promise<{ readonly signature: Signature | undefined; readonly asOf: string }>
  /**
   * Returns the rule that forbids the signature. Undefined once the row is durable, so that no signature leaves before
   * it is counted.
   */
  record(signing: RecordedSigning, balance: KnownBalance, limits: DayLimits): Promise<string | undefined>
  recordOutcome(digest: string, outcome: 'failed' | 'absent'): Promise<void>
  spentToday(): Promise<bigint>
  close(): Promise<void>
}

export interface SignatureStoreOptions {
  /** Connection URL with a login of `tollbook_signer`. */
  readonly databaseUrl: string
  readonly log: Log
}

// Maximum of connections. Each signature locks the row of its day, so more connections would only wait.
const connectionsMax = 4

/** Throws a `Fault` if the database cannot be used, or its schema does not fit. */
export async function openSignatureStore({ databaseUrl, log }: SignatureStoreOptions): Promise<SignatureStore> {
  const database = openDatabase({ databaseUrl, applicationName: 'tollbook signer', connectionsMax, log })
  try {
    const schema = await checkSchemaVersion(database)
    if (!schema.fits) throw new Fault(schema.advice, { retryable: false })
    await spentToday(database)
  } catch (error) {
    await database.destroy()
    if (error instanceof Fault && !error.retryable) throw error
    const advice = 'SIGNER_DATABASE_URL: the database cannot be used; its login must be a member of tollbook_signer'
    throw new Fault(advice, { cause: error, retryable: true })
  }
  return {
    find: (question) => find(database, question),
    record: (signing, balance, limits) => record(database, { ...limits, ...balance, ...signing }),
    recordOutcome: (digest, outcome) => recordOutcome(database, digest, outcome),
    spentToday: () => spentToday(database),
    close: () => database.destroy(),
  }
}

interface FindQuestion {
  /** SHA-256 of the message in hex. */
  readonly digest: string
  readonly wallet: Address
}

interface RecordedSigning extends FindQuestion {
  readonly signature: Signature
  /** Mint of a payment in dollars. Absent: the service token. */
  readonly dollar?: Address | undefined
  readonly amountBaseUnits: bigint
  readonly lamports: bigint
}

interface KnownBalance {
  readonly heldBaseUnits: bigint
  readonly asOf: string
}

interface DayLimits {
  readonly perDayLamports: bigint
  readonly perWalletAndDayLamports: bigint
}

const what = 'signatures of the fee payer'

async function find(database: Database, { digest, wallet }: FindQuestion) {
  // Read the time as text, because a Date lacks microseconds.
  const { signature, as_of: asOf } = await assertRow(database, what)<{ signature: Buffer | null; as_of: string }>`
    select signature, to_char(as_of at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as as_of
    from signer.find_signature(${bytesOf(digest)}, ${wallet})`
  return { signature: signature === null ? undefined : signatureOfBytes(signature), asOf }
}

async function record(
  database: Database,
  {
    digest,
    signature,
    wallet,
    dollar,
    amountBaseUnits,
    lamports,
    heldBaseUnits,
    asOf,
    perDayLamports,
    perWalletAndDayLamports,
  }: RecordedSigning & KnownBalance & DayLimits,
): Promise<string | undefined> {
  // A lost answer also throws a fault. The caller then repeats the payment, and finds the row if it was written.
  const { rule } = await assertRow(database, what)<{ rule: string | null }>`
    select signer.record_signature(${bytesOf(digest)}, ${Buffer.from(signatureBytes(signature))}, ${wallet},
      ${amountBaseUnits}, ${lamports}, ${heldBaseUnits}, ${asOf}::timestamptz, ${perDayLamports}, ${perWalletAndDayLamports}, ${dollar ?? null}) as rule`
  return rule ?? undefined
}

async function recordOutcome(database: Database, digest: string, outcome: 'failed' | 'absent'): Promise<void> {
  await readRows(database, what)`select signer.record_outcome(${bytesOf(digest)}, ${outcome})`
}

async function spentToday(database: Database): Promise<bigint> {
  const { lamports } = await assertRow(database, what)<{
    lamports: string
  }>`select signer.spent_today()::text as lamports`
  const spentLamports = BigInt(lamports)
  assert(spentLamports >= 0n, 'a day spends no less than nothing')
  return spentLamports
}

const bytesOf = (digest: string): Buffer => Buffer.from(digest, 'hex')
