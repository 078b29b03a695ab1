import type { Json } from '@tollbook/core/canonicalJson'
import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../machine/log.ts'
import type { Answer } from '../paywall/answer.ts'
import type { SealedTree } from '../reports/sealedTree.ts'
import type { FreeAnswer, FreeRequest, FreeRoute } from '../transport/freeRoute.ts'
import { parseQuery } from '../transport/parseQuery.ts'
import { immutable, publicAnswer, publicJson, revalidated } from '../transport/publicAnswer.ts'
import { preparePublicBody, type PublicBody } from '../transport/publicBody.ts'
import { createSealMemory, type SealMemory } from './sealMemory.ts'
import { errorAnswer, invalidRequest } from '../transport/transportError.ts'
import { unlessSilent } from './unlessSilent.ts'

export interface LedgerRouteDeps {
  readonly clock: Clock
  readonly log: Log
  readonly tree: SealedTree
  /** Returns the keys for external verifiers of checkpoints, newest first. */
  readonly verifierKeys: () => readonly string[]
  /** True if the events themselves are public, not only their hashes (docs/decisions/0010). */
  readonly entriesArePublic: boolean
}

/**
 * Creates the routes of the ledger's checkpoints and proofs. They are free, public, and the same for every client.
 * Paths without /api are defined by C2SP tlog-tiles.
 */
export function createLedgerRoutes(deps: LedgerRouteDeps): readonly FreeRoute[] {
  const memory = createSealMemory(deps)
  const routes: readonly FreeRoute[] = [
    { path: '/api/ledger/checkpoint', serve: () => checkpoint(memory) },
    { path: '/api/ledger/key', serve: () => verifierKeys(deps) },
    { path: '/api/ledger/inclusion/:position', serve: (request) => inclusion(deps, memory, request) },
    { path: '/api/ledger/consistency/:sizes', serve: (request) => consistency(deps, memory, request) },
    { path: '/checkpoint', serve: () => checkpoint(memory) },
    { path: '/tile/*path', serve: (request) => tile(deps, memory, request) },
  ]
  return routes.map(({ path, serve }) => ({
    path,
    serve: (request) => unlessSilent({ log: deps.log, event: 'seal_unreadable' }, () => serve(request)),
  }))
}

async function verifierKeys({ verifierKeys: read }: LedgerRouteDeps): Promise<FreeAnswer> {
  const lines = read().map((key) => `${key}\n`)
  return publicAnswer(await preparePublicBody(lines.join('')), noteHeaders)
}

async function checkpoint({ newest }: SealMemory): Promise<FreeAnswer> {
  const sealed = await newest()
  return sealed === undefined ? notSealed('there is no checkpoint yet') : publicAnswer(sealed.note, noteHeaders)
}

const noteHeaders = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': revalidated }

/** Returns the same answer for an event that does not exist and for an event that is not sealed yet. */
function notSealed(what: string): Answer {
  return errorAnswer('NOT_FOUND', `${what}; the seal is at most a second behind`, { headers: { 'retry-after': '1' } })
}

async function inclusion(
  { tree }: LedgerRouteDeps,
  { newest, once }: SealMemory,
  { segment, query }: FreeRequest,
): Promise<FreeAnswer> {
  const position = readCount(segment)
  if (position === undefined) return invalidRequest([{ field: 'position', message: 'must be a whole number from 1' }])
  const asked = readTreeSize(query)
  if ('status' in asked) return asked
  const treeSize = asked.treeSize ?? (await newest())?.size ?? 0
  const proof =
    position > treeSize
      ? undefined
      : await once(`inclusion ${position} ${treeSize}`, () => proofBody(tree.proveInclusion({ position, treeSize })))
  if (proof !== undefined) return publicJson(proof, asked.treeSize === undefined ? revalidated : immutable)
  const where = asked.treeSize === undefined ? 'the sealed tree' : `a checkpoint of size ${asked.treeSize}`
  return notSealed(`event ${position} is not in ${where}`)
}

function readTreeSize(query: string): { readonly treeSize: number | undefined } | Answer {
  const parsed = parseQuery(query)
  if (!parsed.ok) return invalidRequest([parsed.problem])
  const { treeSize: text, ...strays } = parsed.values
  if (Object.keys(strays).length > 0)
    return invalidRequest([{ field: 'query', message: 'may hold treeSize and nothing else' }])
  if (text === undefined) return { treeSize: undefined }
  const treeSize = readCount(text)
  return treeSize === undefined
    ? invalidRequest([{ field: 'treeSize', message: 'must be the size of a checkpoint, a whole number from 1' }])
    : { treeSize }
}

async function consistency(
  { tree }: LedgerRouteDeps,
  { once }: SealMemory,
  { segment }: FreeRequest,
): Promise<FreeAnswer> {
  const [from, to] = segment.split('-', 3).map(readCount)
  if (from === undefined || to === undefined || from > to || segment !== `${from}-${to}`)
    return invalidRequest([{ field: 'sizes', message: 'must be two sizes such as 12-40, the earlier first' }])
  const proof = await once(`consistency ${segment}`, () => proofBody(tree.proveConsistency({ from, to })))
  return proof === undefined ? notSealed(`the sealed tree has not reached ${to}`) : publicJson(proof, immutable)
}

/** Parses a positive number. Each number has exactly one accepted spelling, and few enough digits for a safe integer. */
function readCount(text: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined
}

async function proofBody(proving: Promise<Json | undefined>): Promise<PublicBody | undefined> {
  const data = await proving
  return data === undefined ? undefined : preparePublicBody(JSON.stringify({ success: true, data }))
}

async function tile(
  { tree, entriesArePublic }: LedgerRouteDeps,
  { once }: SealMemory,
  { segment: path }: FreeRequest,
): Promise<FreeAnswer> {
  const isBundle = path.startsWith('entries/')
  if (isBundle && !entriesArePublic)
    return errorAnswer('NOT_FOUND', 'the entries of this log are for its auditors; its tiles and proofs are public')
  const body = await once(`tile ${path}`, async () => {
    const bytes = await tree.tile(path)
    // Allow gzip for entries of every size, because C2SP tlog-tiles recommends compressed entries. Do not compress
    // hashes, because they would grow.
    const options = { codings: isBundle ? (['gzip'] as const) : [], codedBytesMin: 0 }
    return bytes === undefined ? undefined : preparePublicBody(bytes, options)
  })
  if (body === undefined) return notSealed('there is no such tile')
  // Let caches keep the body forever, because the content of a path never changes. This is also true for a partial
  // tile.
  return publicAnswer(body, { 'content-type': 'application/octet-stream', 'cache-control': immutable })
}
