const receiptStart = '\nevent: receipt\n'
const eventEnd = '\n\n'

/**
 * Detects the receipt at the end of an event stream. Keeps the end of the previous chunk, because the start of the
 * receipt may be split between two chunks.
 */
export function createReceiptWatch() {
  // Decode one character per byte, because a chunk may end inside a UTF-8 character.
  const decoder = new TextDecoder('latin1')
  let last = ''
  let hasStarted = false
  return {
    read(chunk: Uint8Array): void {
      const text = last + decoder.decode(chunk)
      hasStarted ||= text.includes(receiptStart)
      last = text.slice(-receiptStart.length)
    },
    hasReceipt: () => hasStarted && last.endsWith(eventEnd),
  }
}
