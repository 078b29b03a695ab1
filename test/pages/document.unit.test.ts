import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Window } from 'happy-dom'
import { rolldown } from 'rolldown'
import { expect, onTestFinished, test, vi } from 'vitest'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

/** Stands in for the drawing library: a document of this many pages, which draws nothing. */
const libraryOf = (pages: number) => `export const getDocument = () => ({
  promise: Promise.resolve({
    numPages: ${pages},
    getPage: async () => ({
      getViewport: ({ scale }) => ({ width: 600 * scale, height: 800 * scale }),
      render: () => ({ promise: Promise.resolve() }),
    }),
  }),
  destroy: () => Promise.resolve(),
})`

/** Draws a document of this many pages, and returns the labels of the drawn pages and the words after them. */
async function drawnOf(pages: number) {
  const directory = await makeScratchDirectory()
  const input = fileURLToPath(new URL('../../src/pages/browser/document.ts', import.meta.url))
  const build = await rolldown({ input, platform: 'browser', logLevel: 'silent' })
  const file = join(directory, 'document.js')
  await build.write({ format: 'esm', codeSplitting: false, file })
  await build.close()
  await writeFile(join(directory, 'pdf.js'), libraryOf(pages))
  const { document, happyDOM } = new Window()
  vi.stubGlobal('document', document)
  onTestFinished(async () => {
    vi.unstubAllGlobals()
    await happyDOM.close()
  })
  const place = document.createElement('div')
  const { showDocument } = await import(pathToFileURL(file).href)
  await showDocument(place, 'https://host/artifacts/a.pdf')
  const labels = [...place.querySelectorAll('canvas')].map((canvas) => canvas.getAttribute('aria-label'))
  return { labels, words: place.textContent }
}

test('of a long document the first ten pages are drawn, and the page says how many there are', async () => {
  const { labels, words } = await drawnOf(11)
  expect(labels).toEqual(Array.from({ length: 10 }, (_, index) => `Page ${index + 1} of 11`))
  expect(words).toBe('The first 10 of 11 pages are shown.')
})

test('a document of ten pages is drawn whole, without a note', async () => {
  const { labels, words } = await drawnOf(10)
  expect([labels.length, labels.at(-1), words]).toEqual([10, 'Page 10 of 10', ''])
})
