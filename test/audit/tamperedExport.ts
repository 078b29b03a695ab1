import type { Found } from './tampering.ts'
import { emptyRoot, rootOfHashes } from '@tollbook/core/merkle'

/* Changes to an export on its way to the auditor. */

export interface ExportTampering {
  readonly name: string
  /** The changed lines of the file, and the finding that an audit must report. */
  readonly run: (lines: readonly string[]) => { readonly lines: readonly string[]; readonly found: Found }
}

/**
 * Line 1 is the head, line p + 1 the event at position p. An append begins here: a gap within one is found at its first
 * event.
 */
const place = 65

const verified = String.raw`\"kind\":\"PaymentVerified\"`

/** The last event before a payment's first: no append is cut in two there. */
function endOfAppend(lines: readonly string[]): number {
  return lines.findIndex((_, index) => index >= place && (lines[index + 1] ?? '').includes(verified))
}

function edited(lines: readonly string[], at: number, edit: (line: string) => string): readonly string[] {
  return lines.map((line, index) => (index === at ? edit(line) : line))
}

function head(lines: readonly string[], change: object): readonly string[] {
  return edited(lines, 0, (line) => JSON.stringify({ ...JSON.parse(line), ...change }))
}

function rootOf(lines: readonly string[]): string {
  const hashes = lines.slice(1, -1).map((line) => Buffer.from(String(JSON.parse(line).leafHash), 'base64'))
  return Buffer.from(hashes.length === 0 ? emptyRoot : rootOfHashes(hashes)).toString('base64')
}

export const exportTamperings: readonly ExportTampering[] = [
  {
    name: 'a byte of a body in an export',
    run: (lines) => ({
      lines: edited(lines, place, (line) => line.replace(/\\"version\\":\d/, String.raw`\"version\":97`)),
      found: { aspect: 'integrity', code: 'leaf_mismatch', position: place },
    }),
  },
  {
    name: 'a leaf in an export',
    run: (lines) => ({
      lines: edited(lines, place, (line) => line.replace(/"leafHash":"..../, '"leafHash":"AAAA')),
      found: { aspect: 'integrity', code: 'leaf_mismatch', position: place },
    }),
  },
  {
    name: 'the time of recording in an export',
    run: (lines) => ({
      lines: edited(lines, place, (line) =>
        line.replace(/"recordedAtMs":(\d+)/, (_, ms) => `"recordedAtMs":${Number(ms) + 1}`),
      ),
      found: { aspect: 'integrity', code: 'leaf_mismatch', position: place },
    }),
  },
  {
    name: 'an event taken out of an export',
    run: (lines) => ({
      lines: lines.filter((_, index) => index !== place),
      found: { aspect: 'completeness', code: 'position_missing', position: place },
    }),
  },
  {
    name: 'two events of an export swapped',
    run: (lines) => ({
      lines: lines.map(
        (line, index) => (index === place ? lines[place + 1] : index === place + 1 ? lines[place] : line) ?? '',
      ),
      found: { aspect: 'completeness', code: 'position_missing', position: place },
    }),
  },
  {
    name: 'an event put into an export a second time',
    run: (lines) => ({
      lines: lines.toSpliced(place, 0, lines[place] ?? ''),
      found: { aspect: 'completeness', code: 'position_missing', position: place },
    }),
  },
  {
    name: 'an export cut off',
    run: (lines) => {
      const end = endOfAppend(lines)
      const found = { aspect: 'completeness', code: 'export_incomplete', position: end + 1 } as const
      return { lines: lines.slice(0, end + 1), found }
    },
  },
  {
    name: 'an export cut off, its head and end made again',
    run: (lines) => {
      const end = endOfAppend(lines)
      const cut = [...lines.slice(0, end + 1), JSON.stringify({ end: true, events: end })]
      // The signed checkpoint is of more events than there are.
      return {
        lines: head(cut, { treeSize: end, root: rootOf(cut) }),
        found: { aspect: 'completeness', code: 'tree_too_small', position: end + 1 },
      }
    },
  },
  {
    name: 'an export cut off in the middle of an append, its head and end made again',
    run: (lines) => {
      const end = lines.findIndex((line, index) => index >= place && line.includes(verified))
      const cut = [...lines.slice(0, end + 1), JSON.stringify({ end: true, events: end })]
      return {
        lines: head(cut, { treeSize: end, root: rootOf(cut) }),
        found: { aspect: 'completeness', code: 'append_incomplete', position: end },
      }
    },
  },
  {
    name: 'a line of an export that is not an event',
    run: (lines) => ({
      lines: edited(lines, place, (line) => line.slice(1)),
      found: { aspect: 'completeness', code: 'export_incomplete', position: place },
    }),
  },
  {
    name: 'the root in the head of an export',
    run: (lines) => ({
      lines: head(lines, { root: rootOf(lines.slice(0, -1)) }),
      found: { aspect: 'integrity', code: 'export_root_differs', position: lines.length - 2 },
    }),
  },
  {
    name: 'the signature of the checkpoint of an export',
    run: (lines) => ({
      lines: edited(lines, 0, (line) => line.replace(/— (\S+) \S{8}/, '— $1 AAAAAAAA')),
      found: { aspect: 'integrity', code: 'checkpoint_signature_wrong', position: lines.length - 2 },
    }),
  },
]
