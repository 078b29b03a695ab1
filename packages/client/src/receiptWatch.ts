/** Whether the last event of an event stream, the receipt, has arrived whole. */
export interface ReceiptWatch {
  read(chunk: Uint8Array): void
  hasReceipt(): boolean
}

const receiptStart = '\nevent: receipt\n'
const eventEnd = '\n\n'

/** Keeps as many bytes between chunks as the start of the receipt has, because a chunk may end in the middle of it. */
export function createReceiptWatch(): ReceiptWatch {
  // One character for each byte, so that a cut through a character of UTF-8 changes nothing.
  const decoder = new TextDecoder('latin1')
  let last = ''
  let hasStarted = false
  return {
    read(chunk) {
      const text = last + decoder.decode(chunk)
      hasStarted ||= text.includes(receiptStart)
      last = text.slice(-receiptStart.length)
    },
    hasReceipt: () => hasStarted && last.endsWith(eventEnd),
  }
}
