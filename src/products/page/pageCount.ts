/** Number of pages in the document's own page tree. */
export async function pageCount(bytes: Uint8Array): Promise<number> {
  // Loaded on first use: 2 MB of code that one product needs.
  const { getDocumentProxy } = await import('unpdf')
  // A copy, because the library detaches the buffer.
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  try {
    return document.numPages
  } finally {
    await document.loadingTask.destroy()
  }
}
