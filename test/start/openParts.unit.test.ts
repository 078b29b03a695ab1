import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { readConfig } from '../../src/config.ts'
import { silentLog } from '../../src/machine/log.ts'
import { openPages } from '../../src/start/goods/openPages.ts'
import { openProviders } from '../../src/start/goods/openProviders.ts'
import { openSeal, type SealDeps } from '../../src/start/ledger/openSeal.ts'
import { openUpstreams } from '../../src/start/upstreams/openUpstreams.ts'
import { readLossNote } from '../../src/store/lossNote.ts'
import { createMetrics } from '../../src/transport/metrics.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { steppedClock } from '../support/steppedClock.ts'

/* Parts of the start, opened with the values of the operator. */

const unused = () => Promise.reject(new Error('no caller asks'))
const folder = await makeScratchDirectory()
const base = { clock: systemClock, log: silentLog, metrics: createMetrics() }

test('a service that renders no pages reports no checks of a browser and its storage', async () => {
  const { products } = readConfig({ RENDER_CONCURRENCY: '0', ARTIFACT_DIR: join(folder, 'artifacts') })
  const pages = await openPages(products, { ...base, serviceUrl: () => '' })
  expect(pages.checks).toEqual([])
  await pages.close()
})

test('a feed at a host that the operator denies is refused before its name is looked up', async () => {
  const { providers: config } = readConfig({})
  const { providers } = openProviders(config, {
    ...base,
    upstreams: openUpstreams(config, base),
    lookups: { open: () => expect.unreachable('no lookup is counted') },
    samples: undefined,
    hosts: { allowHosts: [], denyHosts: ['feeds.example'] },
  })
  const { signal } = new AbortController()
  const read = { url: 'http://feeds.example/rss.xml', etag: undefined, lastModified: undefined, signal }
  await expect(providers.readFeed(read)).rejects.toThrow('must not lead to a private address')
})

test('a loss of events is noted once, so that a note which the operator has removed stays away', async () => {
  const checkpointFile = join(folder, 'checkpoint')
  const clock = steppedClock()
  const seen = { position: 7, leafHash: 'ab'.repeat(32) }
  const losses: { readonly finding: string; readonly seen: typeof seen }[] = []
  const seal = await openSeal(readConfig({ CHECKPOINT_FILE: checkpointFile }).seal, {
    ...base,
    clock,
    keys: { signCheckpoint: () => '', verifierKeys: () => [] },
    ledger: {
      requireCheckpoint: () => Promise.resolve(),
      sealNext: () => Promise.resolve({ sealedEvents: 0, head: 0, checkpoint: undefined }),
      // The seal reads nothing else of the history.
      history: { lost: () => losses[0] } as SealDeps['ledger']['history'],
      tree: { checkpoint: unused, proveInclusion: unused, proveConsistency: unused, tile: unused },
    },
  })
  expect(await readLossNote(checkpointFile)).toBeUndefined()
  losses.push({ finding: 'an older copy was restored', seen })
  await clock.step()
  expect(await readLossNote(checkpointFile)).toEqual(seen)
  await rm(`${checkpointFile}.lost`)
  await clock.step()
  expect(await readLossNote(checkpointFile)).toBeUndefined()
  await seal.close()
})
