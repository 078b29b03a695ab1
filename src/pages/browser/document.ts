/*
 * Purchased PDFs are drawn on the page, because most phones show nothing in a frame with a document. The drawing
 * library is fetched with the first document.
 */

import type * as pdfjs from 'unpdf/pdfjs'
import { element } from './element.ts'

// Maximum of drawn pages and their width. The drawing of a page takes about 9 MB of memory.
const pagesMax = 10
const widthPixels = 1_240

export async function showDocument(place: HTMLElement, address: string): Promise<void> {
  const library: typeof pdfjs = await import(new URL('pdf.js', import.meta.url).href)
  const loading = library.getDocument({ url: address, enableXfa: false })
  try {
    const pdf = await loading.promise
    const shown = Math.min(pdf.numPages, pagesMax)
    for (let number = 1; number <= shown; number++) {
      const canvas = await drawPage(await pdf.getPage(number))
      canvas.setAttribute('role', 'img')
      canvas.setAttribute('aria-label', `Page ${number} of ${pdf.numPages}`)
      place.append(canvas)
    }
    if (shown < pdf.numPages) place.append(`The first ${shown} of ${pdf.numPages} pages are shown.`)
  } finally {
    // Ends the worker of the library, also after a failure.
    await loading.destroy()
  }
}

async function drawPage(page: pdfjs.PDFPageProxy): Promise<HTMLCanvasElement> {
  const { width } = page.getViewport({ scale: 1 })
  const viewport = page.getViewport({ scale: widthPixels / width })
  const canvas = element('canvas', { width: Math.round(viewport.width), height: Math.round(viewport.height) })
  await page.render({ canvas, viewport }).promise
  return canvas
}
