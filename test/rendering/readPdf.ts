import { extractLinks, extractText, getDocumentProxy } from 'unpdf'

/** White space as one space. */
export async function textOf(bytes: Uint8Array): Promise<string> {
  const { text } = await extractText(Uint8Array.from(bytes), { mergePages: true })
  return text.replace(/\s+/g, ' ').trim()
}

export async function linksOf(bytes: Uint8Array): Promise<readonly string[]> {
  const { links } = await extractLinks(Uint8Array.from(bytes))
  return links
}

/** Width and height of the first page in points. */
export async function paperOf(bytes: Uint8Array): Promise<readonly number[]> {
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  const { width, height } = (await document.getPage(1)).getViewport({ scale: 1 })
  await document.loadingTask.destroy()
  return [Math.round(width), Math.round(height)]
}

/** Titles of the bookmarks, and whether the document is tagged for readers that speak it. */
export async function structureOf(bytes: Uint8Array): Promise<{ bookmarks: readonly string[]; isTagged: boolean }> {
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  const [outline, marks] = await Promise.all([document.getOutline(), document.getMarkInfo()])
  await document.loadingTask.destroy()
  // PDF.js types the list as always present; it is null for a document without bookmarks.
  const bookmarks = [outline].flat().flatMap((entry) => entry?.title ?? [])
  return { bookmarks, isTagged: marks?.['Marked'] === true }
}

/** The right end of the texts of the first page, as a part of its width. */
export async function rightmostOf(bytes: Uint8Array): Promise<number> {
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  const page = await document.getPage(1)
  const { items } = await page.getTextContent()
  const { width } = page.getViewport({ scale: 1 })
  await document.loadingTask.destroy()
  const ends = items.flatMap((item) => ('transform' in item ? [Number(item.transform[4]) + item.width] : []))
  return Math.max(0, ...ends) / width
}
