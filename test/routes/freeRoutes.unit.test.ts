import { Readable } from 'node:stream'
import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { encodeBase58 } from '@tollbook/core/base58'
import { isoTime } from '@tollbook/core/clock'
import { signCheckpoint } from '@tollbook/core/checkpoint'
import { ed25519Signer, secretKeySigner } from '@tollbook/core/ed25519'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { refuse } from '@tollbook/core/refusal'
import { silentLog } from '../../src/machine/log.ts'
import { artifactRoute } from '../../src/routes/artifactRoute.ts'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { createLedgerRoutes } from '../../src/routes/ledgerRoutes.ts'
import { createFreeRoutes } from '../../src/routes/freeRoutes.ts'
import { createModelRoutes } from '../../src/routes/modelRoutes.ts'
import { receiptRoute } from '../../src/routes/receiptRoute.ts'
import { statementRoute } from '../../src/routes/statementRoute.ts'
import { tabRoutes } from '../../src/routes/tabRoutes.ts'
import { askForSignature, readWallet } from '../../src/routes/walletChallenge.ts'
import type { InclusionQuestion } from '../../src/reports/sealedTree.ts'
import type { FreeAnswer, FreeRequest } from '../../src/transport/freeRoute.ts'
import { createMetrics } from '../../src/transport/metrics.ts'
import { steppedClock } from '../support/steppedClock.ts'

/* Free routes whose facts are of the test: what a caller reads in status, headers and challenge. */

const clock = steppedClock()
const limits = { limitQuotes: () => undefined, limitLookups: () => undefined }
const requestOf = (segment: string, query = ''): FreeRequest => {
  return { segment, query, address: '', host: '', requestId: '', header: () => undefined, limits }
}

async function textOf({ body }: FreeAnswer): Promise<string> {
  if (typeof body === 'string') return body
  return 'bytes' in body ? body.bytes.toString('utf8') : ''
}

test('a picture is shown in the page and a document is a download, both as long as they are kept', async () => {
  const { serve } = artifactRoute(
    {
      find: (name) =>
        Promise.resolve({
          contentType: name.endsWith('pdf') ? 'application/pdf' : 'image/png',
          expiresAtMs: clock.nowMs() + 90_500,
          size: 1,
          read: () => Readable.from([]),
        }),
    },
    { clock, log: silentLog },
  )
  const headersOf = async (name: string) => (await serve(requestOf(name))).headers
  expect(await headersOf('a.png')).toMatchObject({
    'content-disposition': 'inline; filename="a.png"',
    'content-security-policy': "sandbox; default-src 'none'",
    'cache-control': 'private, max-age=90, immutable',
  })
  expect(await headersOf('a.pdf')).toMatchObject({ 'content-disposition': 'attachment; filename="a.pdf"' })
})

test('a file whose storage does not answer may be fetched again', async () => {
  const find = () => Promise.reject(new Fault('no answer', { retryable: true }))
  const answer = await artifactRoute({ find }, { clock, log: silentLog }).serve(requestOf('a.png'))
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '2'])
  expect(JSON.parse(await textOf(answer))).toMatchObject({ error: expect.stringContaining('storage of results') })
})

test('the address of a receipt has the attempt and nothing else', async () => {
  const { serve } = receiptRoute({ log: silentLog, sales: { findReceipt: () => Promise.resolve(undefined) } })
  const statusOf = async (query: string) => (await serve(requestOf('solana:x', query))).status
  expect([await statusOf('attempt=a'), await statusOf('attempt=a&more=b'), await statusOf('')]).toEqual([404, 400, 400])
})

test('a proof at a size of the tree may be kept permanently, and one at its newest size may not', async () => {
  const note = signCheckpoint({ origin: 'o', size: 5, root: Buffer.alloc(32, 5) }, ed25519Signer(makeReceiptKey()))
  const proof = { position: 3, leafHash: '', treeSize: 5, root: '', path: [], checkpoint: note }
  const sizes = { from: 5, to: 5, path: [], checkpoints: { from: note, to: note } }
  const tree = {
    checkpoint: () => Promise.resolve(note),
    proveInclusion: () => Promise.resolve(proof),
    proveConsistency: () => Promise.resolve(sizes),
    tile: () => Promise.resolve(undefined),
  }
  const routes = createLedgerRoutes({ clock, log: silentLog, tree, verifierKeys: () => [], entriesArePublic: false })
  const ask = async (path: string, segment: string, query = '') => {
    const route = assertPresent(
      routes.find((each) => each.path.startsWith(path)),
      'it is a route',
    )
    const { status, headers } = await route.serve(requestOf(segment, query))
    return [status, headers['cache-control']]
  }
  const permanent = 'public, max-age=31536000, immutable'
  expect(await ask('/api/ledger/inclusion', '3')).toEqual([200, 'no-cache'])
  expect(await ask('/api/ledger/inclusion', '3', 'treeSize=5')).toEqual([200, permanent])
  expect(await ask('/api/ledger/consistency', '5-5')).toEqual([200, permanent])
  expect((await ask('/api/ledger/consistency', '6-5'))[0]).toBe(400)
})

test('a signature proves a wallet until it expires, and not one that claims to expire later than a challenge does', () => {
  const { publicKey, secretKey } = Keypair.generate()
  const { sign } = assertPresent(secretKeySigner(secretKey), 'the key is whole')
  const nowMs = clock.nowMs()
  const question = { origin: 'o', purpose: 'show it', nowMs }
  const challenge = askForSignature(question, 'the wallet').body
  const walletAfter = (ms: number) => {
    const expiresAt = isoTime(nowMs + ms)
    const signature = sign(Buffer.from(`o asks: show it until ${expiresAt}`))
    return readWallet({
      ...question,
      authorization: `Wallet ${publicKey.toBase58()}.${expiresAt}.${encodeBase58(signature)}`,
    })?.wallet
  }
  expect(challenge).toContain(`o asks: show it until ${isoTime(nowMs + 300_000)}`)
  expect([0, 1, 360_000, 360_001].map((ms) => walletAfter(ms) === publicKey.toBase58())).toEqual([
    false,
    true,
    true,
    false,
  ])
})

test('a proof at one size of the tree is not given again for another size', async () => {
  const note = signCheckpoint({ origin: 'o', size: 9, root: Buffer.alloc(32, 5) }, ed25519Signer(makeReceiptKey()))
  const proveInclusion = ({ position, treeSize = 0 }: InclusionQuestion) =>
    Promise.resolve({ position, leafHash: '', treeSize, root: '', path: [], checkpoint: note })
  const tree = {
    checkpoint: () => Promise.resolve(note),
    proveInclusion,
    proveConsistency: () => Promise.resolve(undefined),
    tile: () => Promise.resolve(undefined),
  }
  const routes = createLedgerRoutes({ clock, log: silentLog, tree, verifierKeys: () => [], entriesArePublic: false })
  const { serve } = assertPresent(
    routes.find(({ path }) => path.startsWith('/api/ledger/inclusion')),
    'it is a route',
  )
  const sizeOf = async (query: string) => JSON.parse(await textOf(await serve(requestOf('3', query)))).data.treeSize
  expect([await sizeOf('treeSize=5'), await sizeOf('treeSize=8'), await sizeOf('')]).toEqual([5, 8, 9])
})

test('a model whose name has a slash is found as its client writes it, and a stranger is not', async () => {
  const [, route] = createModelRoutes({
    models: () => ['meta/llama', 'small'],
    errorForm: (_, body) => body,
  })
  const { serve } = assertPresent(route, 'there are two routes')
  const statusOf = async (segment: string) => (await serve(requestOf(segment))).status
  expect(await Promise.all(['meta/llama', 'meta%2Fllama', 'small', 'meta'].map(statusOf))).toEqual([200, 200, 200, 404])
})

test('a bearer key replaces only a bearer key: a tab without one has no limit of the day for it', async () => {
  const keys = Keypair.generate()
  const { sign } = assertPresent(secretKeySigner(keys.secretKey), 'the key is whole')
  const owner = keys.publicKey.toBase58()
  const replace = async (hasBearerKey: boolean, bearerSha256?: string) => {
    const shown = { wallet: owner, sessionKey: undefined, hasBearerKey, changes: 0, facts: {} }
    const [, route] = tabRoutes({
      clock,
      log: silentLog,
      origin: 'o',
      accounts: {
        show: () => Promise.resolve(shown),
        close: () => Promise.resolve('0'),
        replaceKeys: () => Promise.resolve(true),
        custody: () => Promise.resolve({}),
      },
    })
    const body = { sessionKey: owner, ...(bearerSha256 === undefined ? {} : { bearerSha256 }) }
    const ask = async (authorization?: string) =>
      assertPresent(
        route?.post,
        'keys are replaced by POST',
      )({ ...requestOf('tab'), header: () => authorization, body })
    const { challenge = '', expiresAt } = JSON.parse(await textOf(await ask()))
    const signature = encodeBase58(sign(Buffer.from(challenge)))
    return (await ask(`Wallet ${owner}.${expiresAt}.${signature}`)).status
  }
  expect(await replace(true, 'ab'.repeat(32))).toBe(200)
  expect(await replace(false)).toBe(200)
  expect(await replace(false, 'ab'.repeat(32))).toBe(400)
})

/** The route of statements, the address of a wallet, and its signature of a challenge as `authorization`. */
function openStatements() {
  const keys = Keypair.generate()
  const { sign } = assertPresent(secretKeySigner(keys.secretKey), 'the key is whole')
  const owner = keys.publicKey.toBase58()
  const writeStatement = () => Promise.resolve(Readable.from(['statement']))
  const { serve } = statementRoute({ clock, log: silentLog, origin: 'o', writeStatement })
  const signed = ({ challenge, expiresAt }: { readonly challenge: string; readonly expiresAt: string }) =>
    `Wallet ${owner}.${expiresAt}.${encodeBase58(sign(Buffer.from(challenge)))}`
  return { serve, owner, signed }
}

test('a signature for the statement of one month opens no other month', async () => {
  const { serve, owner, signed } = openStatements()
  const ask = (month: string, authorization?: string) =>
    serve({ ...requestOf(owner, `month=${month}`), header: () => authorization })
  const authorization = signed(JSON.parse(await textOf(await ask('2026-08'))))
  expect((await ask('2026-07', authorization)).status).toBe(401)
  expect((await ask('2026-08', authorization)).status).toBe(200)
  expect((await ask('2026-08', authorization)).status, 'a signature is for one download').toBe(401)
})

test('a statement counts as an unknown proof of its address, and one that is refused stays valid', async () => {
  const { serve, owner, signed } = openStatements()
  const request = requestOf(owner, 'month=2026-08')
  const authorization = signed(JSON.parse(await textOf(await serve(request))))
  const ask = async (limitLookups: FreeRequest['limits']['limitLookups']) =>
    (await serve({ ...request, header: () => authorization, limits: { ...request.limits, limitLookups } })).status
  expect(await ask(() => refuse('RATE_LIMITED', 'too many', 1))).toBe(429)
  expect(await ask(() => undefined)).toBe(200)
})

test.each(['0000-01', '1969-12', '2026-13', '2999-01', '2026-1'])(
  'a statement of the month %s is refused before a signature is requested',
  async (month) => {
    const writeStatement = () => Promise.reject(new Error('no statement is written'))
    const { serve } = statementRoute({ clock, log: silentLog, origin: 'o', writeStatement })
    expect((await serve(requestOf(Keypair.generate().publicKey.toBase58(), `month=${month}`))).status).toBe(400)
  },
)

test('the keys of receipts are one document, and the identity of the service is another', async () => {
  const routes = createFreeRoutes({
    clock,
    log: silentLog,
    version: '1',
    metrics: createMetrics(),
    checks: [],
    isDraining: () => false,
    tokenPrice: () => undefined,
    burnStats: () => Promise.reject(new Error('no test asks for it')),
    receiptKeys: () => ({ keys: ['a key'] }),
    didDocument: () => ({ id: 'did:web:api.example' }),
    mayReadMetrics: () => false,
  })
  const read = async (path: string) => {
    const route = assertPresent(
      routes.find((each) => each.path === path),
      'it is a route',
    )
    return JSON.parse(await textOf(await route.serve(requestOf(''))))
  }
  expect(await read('/.well-known/jwks.json')).toEqual({ keys: ['a key'] })
  expect(await read('/.well-known/did.json')).toEqual({ id: 'did:web:api.example' })
})
