import { appendFile, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { parseJson } from '@tollbook/core/json'
import { PayerFault } from './errorCode.ts'
import { unlessCode } from './fileError.ts'
import { makeFolder } from './makeFolder.ts'
import { orderOf } from './paymentOrder.ts'
import type { PaymentStore, StoredSpending } from './paymentStore.ts'
import { createPaymentTurns } from './paymentTurns.ts'
import { type PendingPayment, readPendingPayment } from './pendingPayment.ts'

/*
 * One file for each open or refused payment, and a journal of the spending. Both are on disk before a payment is sent.
 * The file is written first. If a crash follows, the next call of `pending` appends the journal line.
 */

export interface PaymentFolder extends PaymentStore {
  pathOf(payment: PendingPayment): string
}

/**
 * Opens a payment store in a folder, which several processes may share. If they make equal requests, one process pays
 * and the others wait. Spending limits cover all processes, because each line is appended whole and all processes read
 * the same order.
 *
 * @example
 *   import { openPaymentFolder } from '@tollbook/client/node'
 *
 *   const store = openPaymentFolder('payments')
 *   for (const { signature, request } of await store.pending()) console.log(signature, request.url)
 */
export function openPaymentFolder(
  folder: string,
  { clock = systemClock }: { readonly clock?: Clock } = {},
): PaymentFolder {
  const pathOf = ({ signature }: PendingPayment) => join(folder, `${signature}.json`)
  const journal = join(folder, 'spending.jsonl')
  const readJournal = openJournal(journal)
  const turns = createPaymentTurns(join(folder, 'turns'), clock)
  return {
    pathOf,
    async keep(payment) {
      await makeFolder(folder)
      await writeFileAtomically(pathOf(payment), `${JSON.stringify(payment, null, 2)}\n`)
      try {
        await appendLine(journal, spendingOf(payment))
      } catch (error) {
        await rm(pathOf(payment), { force: true })
        throw error
      }
    },
    async close(payment, outcome) {
      // Keep the proof of a refused payment as evidence. Leave an answered payment to the processes that wait for it.
      // Otherwise delete the files.
      const refusedPath = join(folder, `${payment.signature}.refused.json`)
      const { signature } = payment
      const left = outcome === 'answered' && (await turns.leave(orderOf(payment), { path: pathOf(payment), signature }))
      if (outcome === 'refused') await rename(pathOf(payment), refusedPath)
      else if (!left) await Promise.all([pathOf(payment), refusedPath].map((path) => rm(path, { force: true })))
      // Append this line last: while the file exists, a later call can present the payment, so its amount must count.
      if (outcome === 'not_sent') await appendLine(journal, { notSent: payment.signature })
    },
    async pending() {
      const pending = await readPayments(folder, paymentFile)
      const { counted, withdrawn } = await readJournal()
      // A later call can present each of these payments, so count those that the journal lacks. If two processes append
      // the same payment, it counts once.
      for (const payment of pending)
        if (!counted.has(payment.signature) && !withdrawn.has(payment.signature))
          await appendLine(journal, spendingOf(payment))
      return pending
    },
    refused: () => readPayments(folder, refusedFile),
    spending: async () => [...(await readJournal()).counted.values()],
    takeTurn: turns.take,
    async readTab(name) {
      try {
        return await unlessCode('ENOENT', readFile(join(folder, `tab-${name}.json`), 'utf8'))
      } catch (cause) {
        throw new PayerFault('FOLDER_UNUSABLE', `${folder} cannot be read as a folder`, { cause, retryable: false })
      }
    },
    async keepTab(name, text) {
      await makeFolder(folder)
      const path = join(folder, `tab-${name}.json`)
      if (text === undefined) await rm(path, { force: true })
      else await writeFileAtomically(path, text)
    },
  }
}

const privateFile = 0o600

/** Writes the file. A crash leaves either the whole new file or the old state. */
export async function writeFileAtomically(path: string, text: string): Promise<void> {
  await writeFile(`${path}.tmp`, text, { mode: privateFile, flush: true })
  await rename(`${path}.tmp`, path)
}

/** Appends one line. The first line break ends a line that a crash cut off. */
async function appendLine(path: string, line: object): Promise<void> {
  await appendFile(path, `\n${JSON.stringify(line)}\n`, { mode: privateFile, flush: true })
}

function spendingOf(payment: PendingPayment) {
  const { signature, mint, costAttoUsd = '0', costBaseUnits, signedAtMs = 0 } = payment
  const { host } = new URL(payment.request.url)
  return { signature, host, mint, atMs: signedAtMs, attoUsd: costAttoUsd, baseUnits: costBaseUnits }
}

const paymentFile = /^[1-9A-HJ-NP-Za-km-z]+\.json$/
const refusedFile = /^[1-9A-HJ-NP-Za-km-z]+\.refused\.json$/

async function readPayments(folder: string, file: RegExp): Promise<readonly PendingPayment[]> {
  const names = (await unlessCode('ENOENT', readdir(folder))) ?? []
  const read = async (name: string) => {
    const path = join(folder, name)
    const text = await unlessCode('ENOENT', readFile(path, 'utf8'))
    // Skip a payment that was closed during the read.
    if (text === undefined) return []
    const payment = readPendingPayment(text)
    if (payment === undefined)
      throw new PayerFault('FOLDER_UNUSABLE', `${path} is not a stored payment`, { retryable: false })
    return [payment]
  }
  return (await Promise.all(names.filter((name) => file.test(name)).map(read))).flat()
}

const amount = z
  .string()
  .regex(/^\d{1,40}$/)
  .transform(BigInt)
const journalLine = z.union([
  z.object({ notSent: z.string() }),
  z.object({
    signature: z.string(),
    host: z.string(),
    mint: z.string(),
    atMs: z.number(),
    attoUsd: amount,
    baseUnits: amount,
  }),
])

interface Journal {
  readonly counted: Map<string, StoredSpending>
  /**
   * Signatures of payments that were never sent. Another process may still append a line for such a payment, because it
   * read the payment's file earlier. Ignore that line.
   */
  readonly withdrawn: Set<string>
}

/** Keeps the parsed lines, because the journal is read again for each payment. */
function openJournal(journal: string): () => Promise<Journal> {
  let read: Journal = { counted: new Map(), withdrawn: new Set() }
  let readBytes = 0
  return async () => {
    const bytes = (await unlessCode('ENOENT', readFile(journal))) ?? Buffer.alloc(0)
    if (bytes.length < readBytes) [read, readBytes] = [{ counted: new Map(), withdrawn: new Set() }, 0]
    // Skip a last line without a line break, because it is still being written, or a crash cut it off. Its payment has
    // not been sent.
    const end = bytes.lastIndexOf('\n') + 1
    for (const line of bytes.toString('utf8', readBytes, end).split('\n')) countLine(journal, line, read)
    readBytes = Math.max(readBytes, end)
    return read
  }
}

function countLine(journal: string, line: string, { counted, withdrawn }: Journal): void {
  // Skip an empty line, and a line without a closing brace, which a crash cut off before its payment was sent.
  if (!line.endsWith('}')) return
  const entry = journalLine.safeParse(parseJson(line)).data
  if (entry === undefined)
    throw new PayerFault('FOLDER_UNUSABLE', `${journal} is damaged at "${line.slice(0, 80)}"`, { retryable: false })
  if ('notSent' in entry) {
    counted.delete(entry.notSent)
    withdrawn.add(entry.notSent)
  } else if (!withdrawn.has(entry.signature)) counted.set(entry.signature, entry)
}
