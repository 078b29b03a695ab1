/** Watches for the last event of a stream of chat completions. */
export interface StreamEnd {
  read(chunk: Uint8Array): void
  hasEnded(): boolean
}

const lastEvent = 'data: [DONE]'

export function createStreamEnd(): StreamEnd {
  let [tail, ended] = ['', false]
  return {
    read(chunk) {
      // The event may be cut anywhere between two chunks.
      const text = tail + Buffer.from(chunk).toString('latin1')
      ended ||= text.includes(lastEvent)
      tail = text.slice(1 - lastEvent.length)
    },
    hasEnded: () => ended,
  }
}
