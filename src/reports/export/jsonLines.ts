import { encodeBase64 } from '@tollbook/core/base64'
import type { Chunk, EventRow, Page } from './exportRows.ts'
import type { ExportScope } from './exportScope.ts'

/**
 * Writes a lossless export: a first line, the events with the bytes of their bodies, and a last line. `tollbook audit
 * FILE` replays such a file. docs/finance-export.md specifies the format.
 */
export async function* jsonLines(
  { fromPosition, treeSize, root, checkpoint, origin, mint }: ExportScope,
  { verifierKey, pages }: { readonly verifierKey: string | undefined; readonly pages: AsyncIterable<Page<EventRow>> },
): AsyncGenerator<Chunk> {
  const head = { format: 'tollbook-ledger', version: 1, origin, mint, fromPosition, treeSize, root, checkpoint }
  yield { chunk: `${JSON.stringify({ ...head, verifierKey: verifierKey ?? null })}\n`, upto: fromPosition - 1 }
  let events = 0
  for await (const { rows, upto } of pages) {
    events += rows.length
    yield { chunk: rows.map(lineOf).join(''), upto }
  }
  yield { chunk: `${JSON.stringify({ end: true, events })}\n`, upto: treeSize }
}

function lineOf({ position, recordedAtMs, leafHash, body }: EventRow): string {
  return `${JSON.stringify({ position, recordedAtMs, leafHash: encodeBase64(leafHash), body })}\n`
}
