import { Readable } from 'node:stream'
import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { encodeBase58 } from '@tollbook/core/base58'
import { isoTime } from '@tollbook/core/clock'
import { signCheckpoint } from '@tollbook/core/checkpoint'
import { ed25519Signer, secretKeySigner } from '@tollbook/core/ed25519'
import { assertPresent } from '@tollbook/core/assert'
import { silentLog } from '../../src/machine/log.ts'
import { artifactRoute } from '../../src/routes/artifactRoute.ts'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { createLedgerRoutes } from '../../src/routes/ledgerRoutes.ts'
import { createModelRoutes } from '../../src/routes/modelRoutes.ts'
import { receiptRoute } from '../../src/routes/receiptRoute.ts'
import { statementRoute } from '../../src/routes/statementRoute.ts'
import { tabRoutes } from '../../src/routes/tabRoutes.ts'
import { askForSignature, readWallet } from '../../src/routes/walletChallenge.ts'
import type { FreeRequest } from '../../src/transport/freeRoute.ts'
import { steppedClock } from '../support/steppedClock.ts'

/* Free routes whose facts are of the test: what a caller reads in status, headers and challenge. */

const clock = steppedClock()
const limits = { limitQuotes: () => undefined, limitLookups: () => undefined }
const requestOf = (segment: string, query = ''): FreeRequest => {
  return { segment, query, address: '', host: '', requestId: '', header: () => undefined, limits }
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
    clock,
  )
  const headersOf = async (name: string) => (await serve(requestOf(name))).headers
  expect(await headersOf('a.png')).toMatchObject({
    'content-disposition': 'inline; filename="a.png"',
    'content-security-policy': "sandbox; default-src 'none'",
    'cache-control': 'private, max-age=90, immutable',
  })
  expect(await headersOf('a.pdf')).toMatchObject({ 'content-disposition': 'attachment; filename="a.pdf"' })
})

test('the address of a receipt has the attempt and nothing else', async () => {
  const { serve } = receiptRoute({ log: silentLog, sales: { findReceipt: () => Promise.resolve(undefined) } })
  const statusOf = async (query: string) => (await serve(requestOf('solana:x', query))).status
  expect([await statusOf('attempt=a'), await statusOf('attempt=a&more=b'), await statusOf('')]).toEqual([404, 400, 400])
})

test('a model is found by its name, also where a client encodes the slash', async () => {
  const routes = createModelRoutes({ models: () => ['vendor/model'], errorForm: (_status, body) => body })
  const serve = assertPresent(routes[1], 'there is a route of one model').serve
  const names = ['vendor/model', 'vendor%2Fmodel', 'vendor']
  const statuses = await Promise.all(names.map(async (name) => (await serve(requestOf(name))).status))
  expect(statuses).toEqual([200, 200, 404])
})

test('the statement of the running month is offered, and that of the next one is not', async () => {
  const { serve } = statementRoute({
    clock,
    log: silentLog,
    origin: 'o',
    writeStatement: () => Promise.resolve(undefined),
  })
  const wallet = Keypair.generate().publicKey.toBase58()
  const statusOf = async (ms: number) => {
    const month = isoTime(clock.nowMs() + ms).slice(0, 7)
    return (await serve(requestOf(wallet, `month=${month}`))).status
  }
  expect([await statusOf(0), await statusOf(32 * 86_400_000)]).toEqual([401, 400])
})

test('the challenge for new keys of a tab names the number of the change, and a bearer key needs a tab that has one', async () => {
  const sessionKey = Keypair.generate().publicKey.toBase58()
  const unused = () => Promise.reject(new Error('not called'))
  const replaceAt = async (facts: object, body: object) => {
    const tab = { wallet: sessionKey, sessionKey, hasBearerKey: false, changes: 3, facts: {}, ...facts }
    const accounts = { show: () => Promise.resolve(tab), close: unused, replaceKeys: unused, custody: unused }
    const route = tabRoutes({ clock, log: silentLog, origin: 'o', accounts })[1]
    const post = assertPresent(route?.post, 'keys can be replaced')
    const { status, body: text } = await post({ ...requestOf('t'), body: { sessionKey, ...body } })
    return [status, typeof text === 'string' ? text : '']
  }
  const bearerSha256 = 'a'.repeat(64)
  expect(await replaceAt({}, {})).toEqual([401, expect.stringContaining(`by ${sessionKey} as change 4 until`)])
  expect(await replaceAt({}, { bearerSha256 })).toEqual([400, expect.stringContaining('bearerSha256')])
  expect(await replaceAt({ hasBearerKey: true }, { bearerSha256 })).toEqual([
    401,
    expect.stringContaining(`${sessionKey} and the bearer key ${bearerSha256} as change 4 until`),
  ])
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
