import { spawnSync } from 'node:child_process'
import { extractText, getDocumentProxy } from 'unpdf'

/** Text of a document and its sheets, as programs read it that have nothing to do with the one that made it. */
export interface ReadDocument {
  readonly sheets: number
  /** Without white space, which readers place differently. */
  readonly texts: readonly string[]
}

/** PDF.js, and Poppler where it is installed. */
export async function readDocument(bytes: Uint8Array): Promise<ReadDocument> {
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  try {
    const { text } = await extractText(document, { mergePages: true })
    const { status, stdout } = spawnSync('pdftotext', ['-', '-'], { input: bytes, encoding: 'utf8' })
    const second = status === 0 ? [stdout] : []
    return { sheets: document.numPages, texts: [text, ...second].map(withoutSpace) }
  } finally {
    await document.loadingTask.destroy()
  }
}

export function withoutSpace(text: string): string {
  // A ligature and a letter of a presentation form are other characters for the same text.
  return text.normalize('NFKC').replace(/\s+/gu, '')
}
