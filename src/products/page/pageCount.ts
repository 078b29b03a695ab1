export async function pageCount(bytes: Uint8Array): Promise<number> {
  // Import the library on first use, because it is large.
  const { getDocumentProxy } = await import('unpdf')
  // Pass a copy of the bytes, because the library detaches the buffer.
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  try {
    return document.numPages
  } finally {
    await document.loadingTask.destroy()
  }
}
