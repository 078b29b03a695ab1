/** Pages of a document as its own page tree says. */
export async function pageCount(bytes: Uint8Array): Promise<number> {
  // 2 MB of code, needed by one product.
  const { getDocumentProxy } = await import('unpdf')
  // A copy, because the library takes the buffer away from its owner.
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  try {
    return document.numPages
  } finally {
    await document.loadingTask.destroy()
  }
}
