import type { Asked, Script } from '../support/loopbackServer.ts'

/** The APIs behind the examples of docs/gateway.md, in one server. */
export const exampleApis: Script = (asked, response) => {
  const answer = answerTo(asked)
  response.writeHead(answer.status, { 'content-type': answer.contentType })
  for (const part of answer.parts) response.write(part)
  response.end()
}

interface ExampleAnswer {
  readonly status: number
  readonly contentType: string
  readonly parts: readonly string[]
}

function answerTo({ method, path, headers, body }: Asked): ExampleAnswer {
  if (headers.authorization !== 'Bearer s3cret') return json(401, { error: 'no key' })
  if (method === 'GET' && path.startsWith('/v1/items/')) return json(200, { ok: true, path })
  if (/^\/v1\/(pet|store)\b/.test(path)) return json(200, { id: 7 })
  if (path === '/v1/search?q=red') return json(200, { items: [{ id: 1 }, { id: 2 }, { id: 3 }] })
  if (path === '/v1/export') return { status: 200, contentType: 'text/csv', parts: ['id,name\n', '1,red\n'] }
  if (path === '/v1/embeddings') return json(200, { object: 'list', data: [] })
  if (path !== '/v1/chat/completions') return json(404, { error: 'no such path' })
  if (!body.includes('"stream":true')) return json(200, { choices: [{ text: 'Hello' }] })
  const events = ['Hel', 'lo'].map((content) => JSON.stringify({ choices: [{ delta: { content } }] }))
  const parts = [...events, '[DONE]'].map((event) => `data: ${event}\n\n`)
  return { status: 200, contentType: 'text/event-stream', parts }
}

const json = (status: number, value: unknown): ExampleAnswer => ({
  status,
  contentType: 'application/json',
  parts: [JSON.stringify(value)],
})
