const receiptStart = '\nevent: receipt\n'
const eventEnd = '\n\n'

/**
 * Detects whether the receipt, the last event of an event stream, has arrived completely. Keeps the last bytes of each
 * chunk, as many as the start of a receipt has, because a chunk may end inside it.
 */
export function createReceiptWatch() {
  // One character per byte, so that a chunk may end inside a UTF-8 character.
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
