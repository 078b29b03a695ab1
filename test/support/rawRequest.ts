import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { z } from 'zod'

/** A case of test/fixtures/badInputs.json, which is a copy of what the interface's authors gave us. */
export const badInput = z.object({
  id: z.string(),
  group: z.string(),
  method: z.string(),
  path: z.string(),
  raw: z.string().optional(),
  headers: z.record(z.string(), z.string()),
  body: z.unknown(),
  expectStatus: z.array(z.int()),
  expectCode: z.union([z.string(), z.null(), z.array(z.string().nullable())]),
  why: z.string(),
  modes: z.array(z.string()).optional(),
  maxMs: z.int().optional(),
  fixture: z.string().optional(),
  mustNot: z.object({ rpcCalls: z.int(), handlerRuns: z.int() }).partial().optional(),
})
export type BadInput = z.infer<typeof badInput>

export interface RawReply {
  /** 0 when the connection ended without an answer. */
  readonly status: number
  readonly text: string
  readonly body: Record<string, unknown> | undefined
}

/** Sends bytes as they are written in the case, through no client that would repair them. */
export function sendRaw(port: number, input: BadInput, values: Readonly<Record<string, string>>): Promise<RawReply> {
  const bytes = input.raw === undefined ? requestBytes(input, values) : rawBytes(fill(input.raw, values))
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      const reply = readReply(Buffer.concat(chunks), input.method)
      if (reply === undefined) return
      socket.destroy()
      resolve(reply)
    })
    socket.on('error', () => undefined)
    socket.on('close', () =>
      resolve(readReply(Buffer.concat(chunks), input.method, true) ?? { status: 0, text: '', body: undefined }),
    )
    socket.setTimeout(input.expectStatus.includes(0) ? silenceMs : failureMs, () => socket.destroy())
  })
}

// A body that is shorter than its length never ends. Everything else is answered, so only a failure waits longer.
const silenceMs = 4_000
const failureMs = 120_000

function requestBytes(input: BadInput, values: Readonly<Record<string, string>>): Buffer {
  const body = bodyBytes(input.body, values)
  const headers = Object.entries(input.headers).map(([name, value]) => `${name}: ${fill(value, values)}`)
  const chunked = 'transfer-encoding' in input.headers
  const length =
    body === undefined || chunked || 'content-length' in input.headers ? [] : [`content-length: ${body.length}`]
  const head = [
    `${input.method} ${fill(input.path, values)} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...headers,
    ...length,
    '',
    '',
  ].join('\r\n')
  const sent =
    body === undefined
      ? Buffer.alloc(0)
      : chunked
        ? Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])
        : body
  return Buffer.concat([Buffer.from(head, 'latin1'), sent])
}

function bodyBytes(body: unknown, values: Readonly<Record<string, string>>): Buffer | undefined {
  if (body === null || body === undefined) return undefined
  if (typeof body !== 'string') return Buffer.from(fill(JSON.stringify(body), values))
  const hex = /^\{\{HEX:([0-9a-f]*)\}\}$/.exec(body)
  if (hex !== null) return Buffer.from(hex[1] ?? '', 'hex')
  const bomb = /^\{\{GZIPBOMB:(\d+)\}\}$/.exec(body)
  return bomb === null
    ? Buffer.from(fill(body, values))
    : gzipSync(Buffer.from(`{"data":"${'b'.repeat(Number(bomb[1]))}"}`))
}

/** {{REPEAT:text:count}} and {{NAME}}. */
function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text
    .replaceAll(/\{\{REPEAT:([\s\S]*?):(\d+)\}\}/g, (_match, part: string, count: string) => part.repeat(Number(count)))
    .replaceAll(/\{\{(WALLET|TREASURY|MINT)\}\}/g, (_match, name: string) => values[name] ?? '')
}

/** The cases write control characters as \r, \n, \0 and \xNN. */
function rawBytes(text: string): Buffer {
  const controls: Record<string, string> = { r: '\r', n: '\n', '0': '\0' }
  const unescaped = text.replaceAll(
    /\\(?:x([0-9a-f]{2})|([rn0]))/gi,
    (_match, hex: string | undefined, letter: string | undefined) => {
      return hex === undefined ? (controls[letter ?? ''] ?? '') : String.fromCharCode(Number.parseInt(hex, 16))
    },
  )
  return Buffer.from(unescaped, 'latin1')
}

function readReply(bytes: Buffer, method: string, ended = false): RawReply | undefined {
  let text = bytes.toString('utf8')
  if (text.startsWith('HTTP/1.1 100')) text = text.slice(text.indexOf('\r\n\r\n') + 4)
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0)
  const cut = text.indexOf('\r\n\r\n')
  if (status === 0 || cut === -1) return ended && status > 0 ? { status, text, body: undefined } : undefined
  const length = Number(/^content-length: *(\d+)/im.exec(text.slice(0, cut))?.[1] ?? 0)
  const content = text.slice(cut + 4)
  const isWhole = method === 'HEAD' || Buffer.byteLength(content) >= length
  return isWhole || ended ? { status, text, body: parseBody(content) } : undefined
}

function parseBody(content: string): Record<string, unknown> | undefined {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(content))
  } catch {
    // Not every answer has a JSON body; the case says whether this one must.
    return undefined
  }
}
