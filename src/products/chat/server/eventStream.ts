import { UpstreamFailure } from '../../../product/upstreamFailure.ts'

// Large enough for a whole answer, because a server may send it as one event.
const eventCharactersMax = 1024 * 1024

/** Yields the `data` of each event of an event stream (WHATWG HTML, 9.2). Other event fields are ignored. */
export async function* eventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  let size = 0
  for await (const chunk of body) {
    // Lines end in LF, CRLF or CR. A CR at the end is kept, because its LF may be in the next chunk.
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      size += line.length
      if (line === '' && data.length > 0) yield data.join('\n')
      if (line === '') [data, size] = [[], 0]
      else if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''))
    }
    if (size + rest.length > eventCharactersMax)
      throw new UpstreamFailure('bad_payload', `an event is longer than ${eventCharactersMax} characters`)
  }
  // Accept a last event without the empty line that ends an event, because some servers omit the line.
  if (rest.startsWith('data:')) data.push(rest.slice('data:'.length).trim())
  if (data.length > 0) yield data.join('\n')
}
