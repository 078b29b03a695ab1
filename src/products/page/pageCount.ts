/** Returns the number of pages in the page tree of the document. */
export async function pageCount(bytes: Uint8Array): Promise<number> {
  // Load the library on first use: it has 2 MB, and only one product needs it.
  const { getDocumentProxy } = await import('unpdf')
  // Copy the bytes, because the library detaches the buffer.
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  try {
    return document.numPages
  } finally {
    await document.loadingTask.destroy()
  }
}
