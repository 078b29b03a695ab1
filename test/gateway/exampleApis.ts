import type { Script } from '../support/loopbackServer.ts'

/** The APIs behind the examples of docs/gateway.md, in one server. */
export const exampleApis: Script = ({ method, path, headers, body }, response) => {
  const json = (status: number, value: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  if (headers.authorization !== 'Bearer s3cret') return void json(401, { error: 'no key' })
  if (method === 'GET' && path.startsWith('/v1/items/')) return void json(200, { ok: true, path })
  if (path === '/v1/embeddings') return void json(200, { object: 'list', data: [] })
  if (path !== '/v1/chat/completions') return void json(404, { error: 'no such path' })
  if (!body.includes('"stream":true')) return void json(200, { choices: [{ text: 'Hello' }], note: '[DONE]' })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const word of ['Hel', 'lo'])
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: word } }] })}\n\n`)
  response.end('data: [DONE]\n\n')
}
