import { createReadStream } from 'node:fs'
import { z } from 'zod'
import { AuditFault } from './auditFault.ts'
import { leafRoom, type RawEvent } from './rawEvent.ts'

/** The first line of an export (docs/finance-export.md). */
export type ExportHead = z.infer<typeof exportHead>

const positive = z.int().min(1)
const base64Of32Bytes = z.base64().length(44)

const exportHead = z.strictObject({
  format: z.literal('tollbook-ledger'),
  version: z.literal(1),
  origin: z.string().nullable(),
  mint: z.string().nullable(),
  fromPosition: positive,
  treeSize: z.int().min(0),
  root: base64Of32Bytes,
  checkpoint: z.string().nullable(),
  verifierKey: z.string().nullable(),
})

const exportEvent = z.strictObject({
  position: positive,
  recordedAtMs: z.int(),
  leafHash: base64Of32Bytes,
  body: z.string(),
})
const exportEnd = z.strictObject({ end: z.literal(true), events: z.int().min(0) })

export interface ExportSource extends AsyncDisposable {
  readonly head: ExportHead
  events(): AsyncGenerator<ExportLine>
}

/** A line of an export. If a line cannot be parsed, the audit reports its number and continues. */
export type ExportLine =
  | { readonly kind: 'event'; readonly event: RawEvent }
  | { readonly kind: 'end'; readonly events: number }
  | { readonly kind: 'unreadable'; readonly line: number }

// Maximum length of a line, in characters. The largest body has 65,519 bytes, and JSON escapes one byte with up to 6
// characters.
const lineCharactersMax = 6 * 65_519 + 1_024

/**
 * Opens an export and reads its head. Throws an `AuditFault` if the file cannot be read, or if the first line is not
 * the head of an export.
 */
export async function openExport(path: string): Promise<ExportSource> {
  const lines = linesOf(path)
  const first = await lines.next()
  const head = exportHead.safeParse(parseLine(first.done === true ? '' : first.value))
  if (!head.success) {
    await lines.return()
    const hint = path.endsWith('.gz') ? '; uncompress it first' : ''
    throw new AuditFault(`${path} is not an export of a ledger: its first line is not the head${hint}`, {
      retryable: false,
    })
  }
  return {
    head: head.data,
    async *events() {
      let number = 1
      for await (const line of lines) yield readLine(line, ++number)
    },
    [Symbol.asyncDispose]: async () => void (await lines.return()),
  }
}

/**
 * Splits only at newlines. `node:readline` also splits at the separators U+2028 and U+2029, which JSON permits in a
 * text. A longer line than the maximum is cut, so that it does not fill the memory.
 */
async function* linesOf(path: string): AsyncGenerator<string, void> {
  try {
    let rest = ''
    for await (const chunk of createReadStream(path, 'utf8')) {
      const lines = `${rest}${chunk}`.split('\n')
      rest = (lines.pop() ?? '').slice(0, lineCharactersMax + 1)
      yield* lines
    }
    if (rest !== '') yield rest
  } catch (error) {
    throw new AuditFault(`${path} cannot be read`, { cause: error, retryable: false })
  }
}

function readLine(line: string, number: number): ExportLine {
  const value = parseLine(line)
  const event = exportEvent.safeParse(value)
  if (event.success) return { kind: 'event', event: rawEventOf(event.data) }
  const end = exportEnd.safeParse(value)
  return end.success ? { kind: 'end', events: end.data.events } : { kind: 'unreadable', line: number }
}

function rawEventOf({ position, recordedAtMs, leafHash, body }: z.infer<typeof exportEvent>): RawEvent {
  const bodyBytes = Buffer.byteLength(body, 'utf8')
  const bytes = Buffer.allocUnsafe(leafRoom + bodyBytes)
  bytes.write(body, leafRoom, 'utf8')
  return {
    position,
    recordedAtMs,
    bytes,
    bodyStart: leafRoom,
    bodyEnd: leafRoom + bodyBytes,
    leafHash: Buffer.from(leafHash, 'base64').toString('latin1'),
    columns: undefined,
  }
}

function parseLine(line: string): unknown {
  if (line.length > lineCharactersMax) return undefined
  try {
    return JSON.parse(line)
  } catch {
    // Leave invalid JSON to the schema, which reports it.
    return undefined
  }
}
