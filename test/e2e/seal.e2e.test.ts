import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { verifyInclusion } from '@tollbook/client/verifyInclusion'
import { openCheckpoint, readCheckpoint, readVerifierKey } from '@tollbook/core/checkpoint'
import { isConsistent } from '@tollbook/core/merkle'
import { assertPresent } from '@tollbook/core/assert'
import { openSessions } from '../store/instance.ts'
import { tamper } from '../store/tamper.ts'
import { ask, buy, qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestService, type TestService } from '../support/testService.ts'

let service: TestService
let file: string

beforeAll(async () => {
  file = join(await makeScratchDirectory(), 'checkpoint')
  service = await openTestService({ env: { CHECKPOINT_FILE: file, LEDGER_ORIGIN: 'shop.example/ledger' } })
})

const get = (path: string, { baseUrl }: TestService = service) => fetch(`${baseUrl}${path}`)
const json = async (path: string): Promise<unknown> => (await get(path)).json()
const newest = async () =>
  assertPresent(readCheckpoint(await (await get('/api/ledger/checkpoint')).text()), 'a checkpoint')

async function sealedUpTo(position: number): Promise<void> {
  // Before the first event is sealed there is no checkpoint at all.
  await awaitThat(`event ${position} is sealed`, async () => {
    const checkpoint = readCheckpoint(await (await get('/api/ledger/checkpoint')).text())
    return checkpoint !== undefined && checkpoint.size >= position
  })
}

const proofAnswer = z.object({
  success: z.literal(true),
  data: z.object({
    position: z.int(),
    leafHash: z.string(),
    treeSize: z.int(),
    root: z.string(),
    path: z.array(z.string()),
    checkpoint: z.string(),
  }),
})

describe('a receipt', () => {
  test('comes with the address of a proof, and is proved with it by nothing but the public key', async () => {
    const sale = await buy(service)
    const { receipt } = sale
    await sealedUpTo(receipt.ledger.position)
    const proof = proofAnswer.parse(await json(`/api/ledger/inclusion/${receipt.ledger.position}`))
    expect(Buffer.from(proof.data.leafHash, 'base64').toString('hex')).toBe(receipt.ledger.leafHash)
    const keys = await json('/.well-known/jwks.json')
    const verdict = await verifyInclusion({ receipt, proof, keys, expectedOrigin: 'shop.example/ledger' })
    expect(verdict).toMatchObject({
      valid: true,
      checkpoint: { origin: 'shop.example/ledger', size: proof.data.treeSize },
    })
  })

  test('keeps its answer and its proof when later ones come, and every later tree begins with the one of its proof', async () => {
    const { receipt } = await buy(service)
    await sealedUpTo(receipt.ledger.position)
    const path = `/api/ledger/inclusion/${receipt.ledger.position}`
    const first = proofAnswer.parse(await json(path)).data
    await sealedUpTo((await buy(service)).receipt.ledger.position)
    expect(proofAnswer.parse(await json(`${path}?treeSize=${first.treeSize}`)).data).toEqual(first)

    const later = await newest()
    const answer = z
      .object({ data: z.object({ path: z.array(z.string()) }) })
      .parse(await json(`/api/ledger/consistency/${first.treeSize}-${later.size}`))
    const consistency = answer.data.path.map((hash) => Buffer.from(hash, 'base64'))
    const earlier = assertPresent(readCheckpoint(first.checkpoint), 'a checkpoint')
    expect(isConsistent({ earlier, later, path: consistency })).toBe(true)
  })

  test('names the address of its proof in the answer itself', async () => {
    const proof = await service.payer.pay(z.any().parse((await ask(service, qrOrder)).body))
    const { body } = await ask(service, { ...qrOrder, proof })
    const { receipt } = z.object({ receipt: z.object({ ledger: z.object({ position: z.int() }) }) }).parse(body)
    expect(body['inclusionProof']).toBe(`/api/ledger/inclusion/${receipt.ledger.position}`)
  })
})

describe('the seal over HTTP', () => {
  test('is a checkpoint that the published verifier key opens, the same under both addresses', async () => {
    await sealedUpTo(1)
    const key = assertPresent(
      readVerifierKey((await (await get('/api/ledger/key')).text()).trimEnd()),
      'a verifier key',
    )
    const [own, standard] = [await get('/api/ledger/checkpoint'), await get('/checkpoint')]
    expect(standard.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(standard.headers.get('cache-control')).toBe('no-cache')
    expect(openCheckpoint(await own.text(), key)).toMatchObject({ origin: 'shop.example/ledger' })
    expect(openCheckpoint(await standard.text(), key)).toBeDefined()
  })

  test('has the tiles of C2SP tlog-tiles, which may be cached permanently', async () => {
    await sealedUpTo(1)
    const { size } = await newest()
    const tile = await get(`/tile/0/000.p/${size}`)
    expect([tile.status, tile.headers.get('content-type')]).toEqual([200, 'application/octet-stream'])
    expect(tile.headers.get('cache-control')).toContain('immutable')
    expect((await tile.arrayBuffer()).byteLength).toBe(size * 32)
    expect((await fetch(`${service.baseUrl}/tile/0/000.p/${size}`, { method: 'HEAD' })).status).toBe(200)
  })

  test('keeps the entries for auditors unless the operator opens them', async () => {
    await sealedUpTo(1)
    expect((await get('/tile/entries/000.p/1')).status).toBe(404)
    const open = await openTestService({ besides: service, env: { LEDGER_ENTRIES: 'public' } })
    const bundle = Buffer.from(await (await get('/tile/entries/000.p/1', open)).arrayBuffer())
    expect(JSON.parse(bundle.subarray(18).toString())).toMatchObject({ kind: 'SettingChanged' })
    expect(bundle.readUInt16BE()).toBe(bundle.length - 2)
    await open.close()
  })

  test('compresses entries for clients that accept gzip, as C2SP tlog-tiles requires, and for no others', async () => {
    await sealedUpTo(1)
    const open = await openTestService({ besides: service, env: { LEDGER_ENTRIES: 'public' } })
    const bundle = async (coding: string) => {
      const answer = await fetch(`${open.baseUrl}/tile/entries/000.p/1`, { headers: { 'accept-encoding': coding } })
      const { headers } = answer
      expect([headers.get('content-type'), headers.get('vary')]).toEqual([
        'application/octet-stream',
        'accept-encoding',
      ])
      expect(headers.get('cache-control')).toContain('immutable')
      // fetch has undone the coding; what came over the wire is what the length says.
      return {
        coding: headers.get('content-encoding'),
        wireBytes: Number(headers.get('content-length')),
        text: Buffer.from(await answer.arrayBuffer()).toString('hex'),
      }
    }
    const plain = await bundle('identity')
    expect(plain.coding).toBeNull()
    expect(plain.wireBytes).toBe(plain.text.length / 2)
    for (const coding of ['gzip', 'br, GZIP;q=0.5', 'deflate,gzip ; q=1.0']) {
      const zipped = await bundle(coding)
      expect([coding, zipped.coding, zipped.text]).toEqual([coding, 'gzip', plain.text])
      expect(zipped.wireBytes).toBeLessThan(plain.wireBytes)
    }
    for (const coding of ['gzip;q=0', 'gzip; q=0.000', 'deflate', 'gzipped'])
      expect(await bundle(coding)).toEqual(plain)
    await open.close()
  })

  test.each([
    ['/api/ledger/inclusion/0', 400],
    ['/api/ledger/inclusion/-1', 400],
    ['/api/ledger/inclusion/01', 400],
    ['/api/ledger/inclusion/9999999999999999', 400],
    ['/api/ledger/inclusion/1?treeSize=x', 400],
    ['/api/ledger/inclusion/1?size=1', 400],
    ['/api/ledger/inclusion/1?treeSize=1&treeSize=1', 400],
    ['/api/ledger/inclusion/999999999', 404],
    ['/api/ledger/inclusion/1?treeSize=999999999', 404],
    ['/api/ledger/inclusion/1/2', 404],
    ['/api/ledger/inclusion/', 404],
    ['/api/ledger/consistency/2-1', 400],
    ['/api/ledger/consistency/0-1', 400],
    ['/api/ledger/consistency/1', 400],
    ['/api/ledger/consistency/1-2-3', 400],
    ['/api/ledger/consistency/1-999999999', 404],
    ['/tile/0/001', 404],
    ['/tile/0/000.p/256', 404],
    ['/tile/0/x001/000', 404],
    ['/tile/1/x001/234/067.p/8', 404],
    ['/tile/8/0/000', 404],
    ['/tile/../checkpoint.p/1', 404],
    ['/tile/0/%30%30%30', 404],
    ['/tile/', 404],
  ])('%s is %i', async (path, status) => {
    await sealedUpTo(1)
    const answer = await get(path)
    expect(answer.status).toBe(status)
    // An event that is not sealed now may be in a second.
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(await answer.json()).toMatchObject({ code: status === 404 ? 'NOT_FOUND' : 'INVALID_REQUEST' })
  })

  test('burn statistics name the newest checkpoint', async () => {
    const { receipt } = await buy(service)
    await sealedUpTo(receipt.ledger.position)
    // Both are read from memory for a moment, and an event may come between the two.
    await awaitThat('they name the newest checkpoint', async () => {
      const { size, root } = await newest()
      const { body } = await ask(service, { path: '/api/token/burn-stats' })
      const { ledger } = z.object({ data: z.object({ ledger: z.json() }) }).parse(body).data
      return JSON.stringify(ledger) === JSON.stringify({ position: size, root: Buffer.from(root).toString('base64') })
    })
  })

  test('shows in the metrics', async () => {
    expect(await (await get('/metrics')).text()).toMatch(/tollbook_ledger_damaged 0/)
  })
})

describe('the checkpoint kept outside the database', () => {
  test('is the newest within two seconds or so, and the next start accepts it', async () => {
    const { receipt } = await buy(service)
    await awaitThat('the file has caught up', async () => {
      const stored = readCheckpoint(await readFile(file, 'utf8'))
      return stored !== undefined && stored.size >= receipt.ledger.position
    })
    const again = await openTestService({ besides: service, env: { CHECKPOINT_FILE: file } })
    expect((await get('/readyz', again)).status).toBe(200)
    await again.close()
  })

  test('keeps a service from starting on a database that is behind it', async () => {
    await expect(openTestService({ env: { CHECKPOINT_FILE: file } })).rejects.toThrow(/older backup was restored/)
  })
})

test('damage closes the paid routes of every instance, is reported by health, and leaves the earlier proofs', async () => {
  const one = await openTestService()
  const other = await openTestService({ besides: one })
  const { receipt } = await buy(one)
  await awaitThat(
    'the sale is sealed',
    async () => (await get(`/api/ledger/inclusion/${receipt.ledger.position}`, one)).status === 200,
  )
  const proof = await one.payer.pay(z.any().parse((await ask(one, qrOrder)).body))

  const altered = `update ledger.events set body = set_byte(body, 9, get_byte(body, 9) # 1) where seq = ${receipt.ledger.position}`
  await tamper(openSessions(one.database.adminUrl), altered)
  // The next event to be sealed makes the sealer look at what it builds on.
  expect((await ask(one, { ...qrOrder, proof })).status).toBe(200)

  for (const service of [one, other]) {
    await awaitThat('the damage is noticed', async () => (await get('/readyz', service)).status === 503)
    const refused = await ask(service, qrOrder)
    expect(refused).toMatchObject({ status: 503, body: { code: 'ENDPOINT_UNAVAILABLE' } })
    expect((await ask(service, { path: '/api/health' })).body).toMatchObject({
      data: { status: 'degraded', checks: { seal: { status: 'failing' } } },
    })
    expect((await get(`/api/ledger/inclusion/${receipt.ledger.position}`, service)).status).toBe(200)
  }
  expect(await (await get('/metrics', one)).text()).toMatch(/tollbook_ledger_damaged 1/)
})
