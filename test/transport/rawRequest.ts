import { request } from 'node:http'

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** Undefined when the text is not JSON. */
  readonly body: unknown
}

export interface RawQuestion {
  readonly method: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** One request with any method, whose target goes over the wire as it is written. */
export function rawRequest(port: number, { method, target, headers = {}, body }: RawQuestion): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, method, path: target, headers: { ...headers }, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : undefined
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
