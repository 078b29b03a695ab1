import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { secretKeySigner } from '@tollbook/core/ed25519'
import { Fault } from '@tollbook/core/fault'
import { silentLog } from '../../src/machine/log.ts'
import { paymentStatusRoute } from '../../src/routes/paymentStatusRoute.ts'
import { type ShownTab, tabRoutes } from '../../src/routes/tabRoutes.ts'
import type { FreeAnswer, FreeRequest } from '../../src/transport/freeRoute.ts'
import { steppedClock } from '../support/steppedClock.ts'

/* Routes that a wallet opens by signing their challenge. */

const clock = steppedClock()
const limits = { limitQuotes: () => undefined, limitLookups: () => undefined }
const bodyOf = ({ body }: FreeAnswer) => JSON.parse(typeof body === 'string' ? body : '{}')

interface Asked {
  readonly segment: string
  readonly query?: string
  readonly authorization?: string | undefined
}

function requestOf({ segment, query = '', authorization }: Asked): FreeRequest {
  return { segment, query, address: '', host: '', requestId: '', header: () => authorization, limits }
}

/** Asks once for the challenge, and again with its signature by this key. */
async function askSigned(ask: (authorization?: string) => Promise<FreeAnswer>, keys: Keypair): Promise<FreeAnswer> {
  const { challenge, expiresAt } = bodyOf(await ask())
  const { sign } = assertPresent(secretKeySigner(keys.secretKey), 'the key is whole')
  return ask(`Wallet ${keys.publicKey.toBase58()}.${expiresAt}.${encodeBase58(sign(Buffer.from(challenge)))}`)
}

test('a payment is shown to its payer, and to no other wallet, under its own signature only', async () => {
  const [payer, stranger] = [Keypair.generate(), Keypair.generate()]
  const [own, other] = [encodeBase58(Buffer.alloc(64, 7)), encodeBase58(Buffer.alloc(64, 8))]
  const { serve } = paymentStatusRoute({
    clock,
    log: silentLog,
    origin: 'o',
    findStatus: ({ signature, wallet }) =>
      Promise.resolve(signature === own && wallet === payer.publicKey.toBase58() ? { state: 'fulfilled' } : undefined),
  })
  const ask = (segment: string) => (authorization?: string) => serve(requestOf({ segment, authorization }))
  const shown = await askSigned(ask(own), payer)
  expect([shown.status, shown.headers['cache-control'], bodyOf(shown).data]).toEqual([
    200,
    'private, no-store',
    { state: 'fulfilled' },
  ])
  const [ofStranger, ofOther] = [await askSigned(ask(own), stranger), await askSigned(ask(other), payer)]
  expect([ofStranger.status, ofOther.status]).toEqual([404, 404])
  expect(ofStranger.body).toBe(ofOther.body)
  expect((await ask(own)()).status).toBe(401)
  for (const asked of [{ segment: own, query: 'x=1' }, { segment: 'short' }, { segment: `${own}${own}` }])
    expect((await serve(requestOf(asked))).status, asked.segment).toBe(400)
})

test('the challenge of one payment does not open another', async () => {
  const payer = Keypair.generate()
  const [own, other] = [encodeBase58(Buffer.alloc(64, 7)), encodeBase58(Buffer.alloc(64, 8))]
  const findStatus = () => Promise.resolve({ state: 'fulfilled' })
  const { serve } = paymentStatusRoute({ clock, log: silentLog, origin: 'o', findStatus })
  const answer = await askSigned(
    (authorization) => serve(requestOf({ segment: authorization === undefined ? own : other, authorization })),
    payer,
  )
  expect(answer.status).toBe(401)
})

function openTab(shown: Partial<ShownTab> = {}) {
  const [owner, session] = [Keypair.generate(), Keypair.generate()]
  const closed: string[] = []
  const [custody, tab] = tabRoutes({
    clock,
    log: silentLog,
    origin: 'o',
    accounts: {
      show: (id) =>
        Promise.resolve(
          id === 'tab'
            ? {
                wallet: owner.publicKey.toBase58(),
                sessionKey: session.publicKey.toBase58(),
                hasBearerKey: false,
                changes: 0,
                facts: { tab: id },
                ...shown,
              }
            : undefined,
        ),
      close(_id, by) {
        closed.push(by)
        return Promise.resolve('42')
      },
      replaceKeys: () => Promise.resolve(false),
      custody: () => Promise.reject(new Fault('no node answers', { retryable: true })),
    },
  })
  const remove = assertPresent(tab?.remove, 'a tab is closed by DELETE')
  const close =
    (segment = 'tab') =>
    (authorization?: string) =>
      remove(requestOf({ segment, authorization }))
  return { owner, session, closed, close, custody, tab }
}

test('a tab is closed by its wallet or its session key, and the rest goes to its wallet', async () => {
  const { owner, session, closed, close } = openTab()
  const answer = await askSigned(close(), session)
  expect(bodyOf(answer).data).toEqual({
    tab: 'tab',
    closed: true,
    wallet: owner.publicKey.toBase58(),
    restBaseUnits: '42',
  })
  expect((await askSigned(close(), owner)).status).toBe(200)
  expect(closed).toEqual(['session_key', 'wallet'])
})

test('a stranger closes no tab, and neither does a key of a tab that has none', async () => {
  const { closed, close } = openTab({ sessionKey: undefined })
  expect((await askSigned(close(), Keypair.generate())).status).toBe(401)
  expect((await close('other')()).status).toBe(404)
  expect(closed).toEqual([])
})

test('a tab takes no query, and its routes answer 503 while ledger or chain do not answer', async () => {
  const { custody, tab } = openTab()
  expect((await assertPresent(tab, 'it is a route').serve(requestOf({ segment: 'tab', query: 'x' }))).status).toBe(400)
  const silent = await assertPresent(custody, 'it is a route').serve(requestOf({ segment: '' }))
  expect([silent.status, silent.headers['retry-after'], bodyOf(silent).error]).toEqual([
    503,
    '2',
    'the ledger or the chain did not answer; try again in 2 s',
  ])
})

test('keys of a tab that has changed meanwhile are not replaced, and a wrong body names its field', async () => {
  const { owner, session, tab } = openTab()
  const post = assertPresent(tab?.post, 'keys are replaced by POST')
  const ask = (body: Readonly<Record<string, unknown>>) => (authorization?: string) =>
    post({ ...requestOf({ segment: 'tab', authorization }), body })
  expect((await askSigned(ask({ sessionKey: session.publicKey.toBase58() }), owner)).status).toBe(404)
  expect((await askSigned(ask({ sessionKey: session.publicKey.toBase58() }), session)).status).toBe(401)
  for (const [body, field] of [
    [{ sessionKey: 'x' }, 'sessionKey'],
    [{ sessionKey: session.publicKey.toBase58(), more: 1 }, 'body'],
  ] as const) {
    const refused = await ask(body)()
    expect([refused.status, refused.body]).toEqual([400, expect.stringContaining(`"field":"${field}"`)])
  }
})
