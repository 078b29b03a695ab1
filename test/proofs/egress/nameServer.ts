import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIP, type Socket } from 'node:net'
import { assert } from '@tollbook/core/assert'

/** A name server with the answers of a test, over UDP and TCP: true ones, lies and malformed messages. */
export interface NameServer extends AsyncDisposable {
  /** `address:port`, for a resolver. */
  readonly address: string
  /** Questions that came over TCP, because an answer did not fit into a datagram. */
  tcpCount(): number
}

export interface NameQuestion {
  readonly name: string
  readonly type: 'A' | 'AAAA'
  /** Number of questions for this name and type, this one included. */
  readonly nth: number
}

/** Aliases in their order, then the addresses of the last; only those of the asked type are sent. */
export interface NameRecords {
  readonly aliases?: readonly string[]
  readonly addresses: readonly string[]
}

export type NameAnswer = NameRecords | 'silent' | 'malformed'

export interface NameServerOptions {
  /** 0: any. */
  readonly port: number
  readonly answer: (question: NameQuestion) => NameAnswer
}

// RFC 1035, 4.1.1: an authoritative answer that recursion was available for; no such name; too long for a datagram.
const answered = 0x8580
const noSuchName = 0x8583
const truncated = 0x8780
const headerLength = 12
// Without EDNS, and what the resolvers of today ask for with it.
const datagramLengthMax = 512
const types = { 1: 'A', 28: 'AAAA' } as const
const aliasType = 5

export async function startNameServer({ port, answer }: NameServerOptions): Promise<NameServer> {
  const asked = new Map<string, number>()
  let overTcp = 0
  const reply = (query: Buffer): Buffer | undefined => {
    const { name, type } = questionOf(query)
    if (type === undefined) return messageOf(query, { flags: answered, records: [] })
    const key = `${type} ${name}`
    const nth = (asked.get(key) ?? 0) + 1
    asked.set(key, nth)
    return replyOf(query, answer({ name, type, nth }), type)
  }
  const tcp = createServer((socket) => {
    overTcp++
    answerStream(socket, reply)
  }).listen(port, '127.0.0.1')
  await once(tcp, 'listening')
  const bound = tcp.address()
  assert(typeof bound === 'object' && bound !== null, 'a server that listens has a port')
  const udp = createSocket('udp4')
  udp.on('message', (query, from) => {
    const whole = reply(query)
    if (whole === undefined) return
    const fits = whole.length <= datagramLengthMax
    udp.send(fits ? whole : messageOf(query, { flags: truncated, records: [] }), from.port, from.address)
  })
  udp.bind(bound.port, '127.0.0.1')
  await once(udp, 'listening')
  return {
    address: `127.0.0.1:${bound.port}`,
    tcpCount: () => overTcp,
    [Symbol.asyncDispose]() {
      udp.close()
      tcp.close()
      return Promise.resolve()
    },
  }
}

/** Messages on a stream follow their length (RFC 1035, 4.2.2). */
function answerStream(socket: Socket, reply: (query: Buffer) => Buffer | undefined): void {
  let received = Buffer.alloc(0)
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    for (; received.length >= 2;) {
      const end = 2 + received.readUInt16BE()
      if (received.length < end) return
      const whole = reply(received.subarray(2, end))
      received = received.subarray(end)
      if (whole !== undefined) socket.write(Buffer.concat([uint16(whole.length), whole]))
    }
  })
}

interface Question {
  readonly name: string
  readonly type: 'A' | 'AAAA' | undefined
  /** Offset of the first byte after it. */
  readonly end: number
}

function questionOf(query: Buffer): Question {
  const labels: string[] = []
  let at = headerLength
  for (; (query[at] ?? 0) !== 0; at += 1 + (query[at] ?? 0))
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)))
  const code = query.readUInt16BE(at + 1)
  return {
    name: labels.join('.').toLowerCase(),
    type: code === 1 || code === 28 ? types[code] : undefined,
    end: at + 5,
  }
}

function replyOf(query: Buffer, answer: NameAnswer, type: 'A' | 'AAAA'): Buffer | undefined {
  if (answer === 'silent') return undefined
  // A name that points at itself without end.
  if (answer === 'malformed')
    return Buffer.concat([headerOf(query, answered, 1), Buffer.from([0xc0, 0x0c, 0xc0, 0x0c])])
  const { aliases = [], addresses } = answer
  const fitting = addresses.filter((address) => isIP(address) === (type === 'A' ? 4 : 6))
  const names = [questionOf(query).name, ...aliases]
  // The name of the question by its place in the message, which keeps long answers below 64 KiB.
  const owner = aliases.length === 0 ? Buffer.from([0xc0, headerLength]) : nameOf(names.at(-1) ?? '')
  const records = [
    ...aliases.map((alias, nth) => recordOf(nameOf(names[nth] ?? ''), aliasType, nameOf(alias))),
    ...fitting.map((address) => recordOf(owner, type === 'A' ? 1 : 28, bytesOf(address))),
  ]
  const exists = aliases.length + addresses.length > 0
  return messageOf(query, { flags: exists ? answered : noSuchName, records })
}

interface Message {
  readonly flags: number
  readonly records: readonly Buffer[]
}

function messageOf(query: Buffer, { flags, records }: Message): Buffer {
  return Buffer.concat([
    headerOf(query, flags, records.length),
    query.subarray(headerLength, questionOf(query).end),
    ...records,
  ])
}

function headerOf(query: Buffer, flags: number, answerCount: number): Buffer {
  return Buffer.concat([query.subarray(0, 2), uint16(flags), uint16(1), uint16(answerCount), uint16(0), uint16(0)])
}

/** Valid for 0 s, so that each lookup asks again. */
function recordOf(owner: Buffer, type: number, data: Buffer): Buffer {
  return Buffer.concat([owner, uint16(type), uint16(1), Buffer.alloc(4), uint16(data.length), data])
}

function nameOf(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')]))
  return Buffer.concat([...labels, Buffer.from([0])])
}

function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  // The URL parser writes every address in hexadecimal groups.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')]
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0')
  return Buffer.concat([...first, ...zeros, ...last].map((group) => uint16(Number.parseInt(group, 16))))
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}
