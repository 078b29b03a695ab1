import { createHash } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { AuditFault } from './auditFault.ts'
import type { ChainFigures } from './chainAudit.ts'
import { PaymentTable } from './paymentTable.ts'
import { PositionIndex } from './positionIndex.ts'
import { Replay, type ReplayState } from './replay.ts'
import type { StoredFigures } from './storedTransactions.ts'

/** An audit that was interrupted, or that ended and continues when the ledger has grown. */
export interface ResumedAudit {
  readonly replay: Replay
  readonly stored: StoredFigures
  readonly chain: ChainFigures | undefined
}

// Raised when the state changes, because a file of another version would be restored wrongly.
const version = 7

interface Head {
  readonly format: 'tollbook-audit'
  readonly version: typeof version
  readonly payments: number
  readonly paymentPages: number
  readonly streamPages: number
  readonly state: ReplayState
  readonly stored: StoredFigures
  readonly chain: ChainFigures | null
}

const digestHexCharacters = 64
const privateFile = 0o600

/**
 * One line of JSON, the tables behind it, and in front of all the SHA-256 of it. It is the auditor's own file: who can
 * write it can make the audit say anything, so it belongs where no other user can write.
 */
export async function writeResumeFile(path: string, { replay, stored, chain }: ResumedAudit): Promise<void> {
  const pages = [...replay.payments.bytes()]
  const streams = replay.streams.bytes()
  const head: Head = {
    format: 'tollbook-audit',
    version,
    state: replay.state(),
    payments: replay.payments.count,
    paymentPages: pages.length,
    streamPages: streams.length,
    stored,
    chain: chain ?? null,
  }
  const content = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...pages, ...streams])
  // Written to another file and renamed, so that an interruption leaves the old state and never half of a new one.
  await writeFile(`${path}.tmp`, Buffer.concat([Buffer.from(`${digestOf(content)}\n`), content]), { mode: privateFile })
  await rename(`${path}.tmp`, path)
}

/** Undefined when there is no such file yet. */
export async function readResumeFile(path: string): Promise<ResumedAudit | undefined> {
  const file = await readFile(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new AuditFault(`${path} cannot be read`, { cause: error, retryable: false })
  })
  if (file === undefined) return undefined
  const content = file.subarray(digestHexCharacters + 1)
  if (file.toString('latin1', 0, digestHexCharacters) !== digestOf(content)) {
    throw new AuditFault(`${path} is damaged or no file of an audit; remove it to audit from the first event`, {
      retryable: false,
    })
  }
  const headEnd = content.indexOf('\n')
  const head: Head = JSON.parse(content.toString('utf8', 0, headEnd))
  if (head.version !== version) {
    throw new AuditFault(`${path} is a file of another version of the audit; remove it to audit from the first event`, {
      retryable: false,
    })
  }
  return restore(head, content.subarray(headEnd + 1))
}

// The digest has shown that the file is one of ours, so its shape is known.
function restore({ state, payments, paymentPages, streamPages, stored, chain }: Head, tables: Buffer): ResumedAudit {
  const pagesOf = (start: number, count: number, bytes: number): Buffer[] =>
    Array.from({ length: count }, (_, index) => tables.subarray(start + index * bytes, start + (index + 1) * bytes))
  const table = PaymentTable.restore(payments, pagesOf(0, paymentPages, PaymentTable.pageBytes))
  const streams = new PositionIndex(
    pagesOf(paymentPages * PaymentTable.pageBytes, streamPages, PositionIndex.pageBytes),
  )
  return { replay: new Replay(state, { payments: table, streams }), stored, chain: chain ?? undefined }
}

function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
