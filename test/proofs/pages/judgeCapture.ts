import { RenderFailure, type Rendered } from '../../../src/rendering/renderer.ts'
import type { CorpusPage, Ending } from './corpusPage.ts'
import { differenceFrom, type Golden, goldenOf } from './golden.ts'
import { readDocument, withoutSpace } from './readDocument.ts'

export type Kind = 'picture' | 'document'

export interface Capture {
  readonly page: CorpusPage
  readonly kind: Kind
  readonly outcome: Rendered | RenderFailure
  readonly asked: ReadonlySet<string>
  readonly golden: Golden | undefined
}

/** Undefined if the capture is what the corpus expects. */
export async function judgeCapture(capture: Capture): Promise<string | undefined> {
  const { page, kind, outcome } = capture
  if (page.endings !== undefined)
    return page.endings.some((ending) => endedIn(ending, outcome)) ? undefined : describeCapture(outcome)
  if (outcome instanceof RenderFailure)
    return page.fails !== undefined && outcome.message.includes(page.fails) ? undefined : outcome.message
  if (page.fails !== undefined) return 'it was captured although there is nothing to sell'
  const marks = judgeMarks(capture, outcome)
  if (marks !== undefined) return marks
  return kind === 'picture' ? judgePicture(capture, outcome) : judgeDocument(page, outcome)
}

function endedIn(ending: Ending, outcome: Rendered | RenderFailure): boolean {
  if ('marks' in ending) {
    if (outcome instanceof RenderFailure || outcome.clipped !== (ending.clipped ?? false)) return false
    return outcome.missing.map(({ reason }) => reason).join() === ending.marks.join()
  }
  if (!(outcome instanceof RenderFailure)) return false
  const { kind, message, endsPayment } = ending
  return outcome.kind === kind && outcome.message === message && outcome.endsPayment === endsPayment
}

function judgeMarks({ page, kind, asked }: Capture, rendered: Rendered): string | undefined {
  const { missing = [], missingOnPaper = missing, mayLackGlyphs = false, fetches = [] } = page
  const expected = (kind === 'picture' ? missing : missingOnPaper).join() || 'complete'
  const said = rendered.missing.map(({ reason }) => reason).join() || 'complete'
  if (said !== expected) return `it says ${said}, not ${expected}`
  if (rendered.missingGlyphs > 0 && !mayLackGlyphs) return `${rendered.missingGlyphs} characters have no font`
  const unasked = fetches.find((url) => !asked.has(url))
  return unasked === undefined ? undefined : `${unasked} was never asked for`
}

function judgePicture({ page, golden }: Capture, { clipped, bytes }: Rendered): string | undefined {
  if (clipped !== (page.clipped ?? false)) return `clipped is ${clipped}`
  if (page.moves === true) return undefined
  return golden === undefined ? 'it has no golden picture' : differenceFrom(golden, goldenOf(bytes))
}

async function judgeDocument({ says = [], omits = [], sheets }: CorpusPage, { bytes }: Rendered) {
  const document = await readDocument(bytes)
  if (sheets !== undefined && document.sheets !== sheets) return `it has ${document.sheets} sheets, not ${sheets}`
  for (const text of document.texts) {
    const lost = says.find((words) => !text.includes(withoutSpace(words)))
    if (lost !== undefined) return `a reader does not find "${lost}"`
    const shown = omits.find((words) => text.includes(withoutSpace(words)))
    if (shown !== undefined) return `a reader finds "${shown}"`
  }
  return undefined
}

export function describeCapture(rendered: Rendered | RenderFailure): string {
  if (rendered instanceof RenderFailure)
    return `not captured: ${rendered.message}${rendered.endsPayment ? ', and the payment ends' : ''}`
  const reasons = rendered.missing.map(({ reason }) => reason).join(', ')
  const marks = [
    reasons === '' ? 'complete' : `marked ${reasons}`,
    ...(rendered.clipped ? ['clipped'] : []),
    ...(rendered.missingGlyphs === 0 ? [] : [`${rendered.missingGlyphs} characters without a font`]),
  ]
  return marks.join(', ')
}
