import { createHash, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { createServer } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { isConsistent, type TreeHead } from '@tollbook/core/merkle'
import { type NoteVerifier, openCheckpoint } from '@tollbook/core/checkpoint'

/** Fault that a test witness makes in its answers. */
export type WitnessFault = 'other_text' | 'other_time' | 'longer_text' | 'wrong_size' | 'no_signature'

export interface TestWitness extends AsyncDisposable {
  readonly url: string
  /** As the witness publishes it. */
  readonly key: string
  /** The tree that it has seen. */
  seen(): TreeHead | undefined
  answerWith(fault: WitnessFault | undefined): void
}

/** A witness of one log by C2SP tlog-witness, written from its specification for the tests. */
export async function startTestWitness(log: NoteVerifier, host = '127.0.0.1'): Promise<TestWitness> {
  const name = 'witness.example/w1'
  const { privateKey } = generateKeyPairSync('ed25519')
  const raw = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)
  const typed = Buffer.concat([Buffer.of(4), raw])
  const id = createHash('sha256').update(`${name}\n`).update(typed).digest().subarray(0, 4)
  let seen: TreeHead | undefined
  let fault: WitnessFault | undefined

  function cosign(checkpointText: string): string {
    const time = Buffer.alloc(8)
    time.writeBigUInt64BE(1_700_000_000n)
    const stated = fault === 'other_time' ? 1_700_000_001n : 1_700_000_000n
    const body = fault === 'other_text' ? checkpointText.replace('\n', 'x\n') : checkpointText
    const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${stated}\n${body}`), privateKey)
    return `— ${name} ${Buffer.concat([id, time, signature]).toString('base64')}\n`
  }

  function answer(request: string): readonly [status: number, text: string] {
    const end = request.indexOf('\n\n')
    const [first = '', ...path] = request.slice(0, end).split('\n')
    const note = request.slice(end + 2)
    const old = /^old (0|[1-9]\d*)$/.exec(first)?.[1]
    if (old === undefined || path.length > 63) return [400, '']
    if (!note.startsWith(`${log.name}\n`)) return [404, '']
    const checkpoint = openCheckpoint(note, log)
    if (checkpoint === undefined) return [403, '']
    if (Number(old) > checkpoint.size) return [400, '']
    if (Number(old) !== (seen?.size ?? 0)) return [409, fault === 'wrong_size' ? 'many\n' : `${seen?.size ?? 0}\n`]
    if (
      seen !== undefined &&
      seen.size === checkpoint.size &&
      !checkpoint.root.every((byte, k) => byte === seen?.root[k])
    )
      return [409, `${seen.size}\n`]
    const hashes = path.map((line) => new Uint8Array(Buffer.from(line, 'base64')))
    const isFirst = seen === undefined && path.length === 0
    if (!isFirst && (seen === undefined || !isConsistent({ earlier: seen, later: checkpoint, path: hashes })))
      return [422, '']
    seen = checkpoint
    if (fault === 'longer_text') return [200, `more\n\n${cosign(`${note}more\n`)}`]
    return [200, fault === 'no_signature' ? '' : cosign(note.slice(0, note.lastIndexOf('\n\n') + 1))]
  }

  const server = createServer((request, response) => {
    void readText(request).then((body) => {
      const [status, text] = request.url === '/w/add-checkpoint' ? answer(body) : [404, '']
      response.writeHead(status).end(text)
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, host, resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: `http://${host}:${port}/w`,
    key: `${name}+${id.toString('hex')}+${typed.toString('base64')}`,
    seen: () => seen,
    answerWith: (given) => void (fault = given),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}
