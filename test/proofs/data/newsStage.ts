import pg from 'pg'
import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { news } from '../../../src/products/news/news.ts'
import { createNewsSearch } from '../../../src/products/news/newsSearch.ts'
import { createNewsSources } from '../../../src/products/news/newsSources.ts'
import { openEndpoint } from '../../../src/product/productDefinition.ts'
import { createFeedPool } from '../../../src/products/news/providers/feedPool.ts'
import type { ProviderDeps } from '../../../src/sourcing/provider.ts'
import { createReadFeed } from '../../../src/sourcing/readFeed.ts'
import { UpstreamFailure } from '../../../src/product/upstreamFailure.ts'
import { silentLog } from '../../../src/machine/log.ts'
import type { Outcome } from '../../../src/product/product.ts'
import { openDatabase } from '../../../src/store/database.ts'
import { createNewsStore } from '../../../src/store/newsStore.ts'
import { startLedgerServer } from '../ledgerServer.ts'
import { bodyOf } from './body.ts'
import { shiftTime } from './fieldFaults.ts'
import { honestReply, whyNot } from './priceStages.ts'
import type { Stage } from './stage.ts'

const title = 'Quantum firm opens UK lab'
const publicUrl = z
  .url()
  .refine((url) => /^https?:\/\/[^/]*\.[a-z]{2,}(\/|$)/.test(url) && !/localhost|169\.254|127\.0/.test(url))
const newsData = z.object({
  articles: z
    .array(
      z.object({
        title: z
          .string()
          .min(3)
          .max(500)
          .regex(/^[^<>\p{Cc}]+$/u),
        source: z.string().min(1),
        url: publicUrl,
        publishedAt: z.iso.datetime().refine(isOfTheWeek),
      }),
    )
    .min(1),
  total: z.number(),
})
const structureOf = whyNot(newsData)

/** Another provider that copies the title of a publisher's article must not take it over while the publisher has it. */
function whyWrong(data: unknown, isAlone: boolean): string | undefined {
  const wrong = structureOf(data)
  if (wrong !== undefined || isAlone) return wrong
  const copies = newsData
    .parse(data)
    .articles.filter((article) => article.title === title && !article.url.includes('www.example.co.uk'))
  return copies.length === 0 ? undefined : 'a copied title'
}

function isOfTheWeek(time: string): boolean {
  const ageMs = systemClock.nowMs() - Date.parse(time)
  return ageMs < 7.1 * 86_400_000 && ageMs > -3_700_000
}

/** The fixture with its times moved to now: the database decides by its own clock what is too old. */
function honestNow(sample: string) {
  const shiftMs = systemClock.nowMs() - Date.parse('2026-11-20T12:49:25Z')
  return honestReply(sample, (text) => {
    const body = bodyOf(text)
    return body.print(new Map(body.leaves.map(({ path, value }) => [path, shiftTime(value, shiftMs)])))
  })
}

const noAmounts = { amounts: /^never$/, current: /^never$/ }

/** News is polled into a database, so each variant begins with an empty one. */
export async function openNewsStage(): Promise<{ readonly stage: Stage; close(): Promise<void> }> {
  await using opened = new AsyncDisposableStack()
  const server = opened.use(await startLedgerServer())
  const { adminUrl, serviceUrl } = await server.createDatabase()
  const admin = new pg.Client(adminUrl)
  await admin.connect()
  opened.defer(() => admin.end())
  const database = openDatabase({ databaseUrl: serviceUrl, applicationName: 'data', connectionsMax: 2, log: silentLog })
  opened.defer(() => database.destroy())
  const store = createNewsStore(database, { isSample: false })

  const feedPool = createFeedPool()
  opened.defer(() => feedPool.close())

  async function buy(deps: ProviderDeps, feedUrl: string): Promise<Outcome> {
    await admin.query('truncate news.articles, news.polls')
    const readFeed = createReadFeed({ version: '1', contact: 'ops@example.org', onCall: () => undefined })
    const sources = createNewsSources({ ...deps, newsFeeds: [{ category: 'tech', url: feedUrl }], readFeed, feedPool })
    const polled = sources.polled.filter(({ category }) => category === 'tech')
    await store.takePoll(polled)
    for (const { name, lane, everyMs, provider, category, poll } of polled) {
      try {
        const { articles } = await poll({ etag: undefined, lastModified: undefined }, AbortSignal.timeout(5_000))
        await store.keep({ provider, category, feed: lane, articles })
        await store.pollSucceeded({ name, everyMs, etag: undefined, lastModified: undefined })
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error
      }
    }
    const newsSearch = createNewsSearch({ clock: deps.clock, store, searcher: sources.searcher })
    await newsSearch.refresh()
    const endpoint = openEndpoint(news, { clock: deps.clock, newsSearch, sampleUpstreams: false })
    const read = endpoint.read({ category: 'tech', limit: '50' })
    assert(read.ok, 'the order is legal')
    const why = read.whyUnavailable()
    if (why !== undefined) return { kind: 'failed', code: 'UPSTREAM_FAILED', message: why }
    return read.deliver({ signal: new AbortController().signal, requestId: 'r', payer: 'p', payment: 'p' })
  }

  const stage: Stage = {
    name: 'news tech',
    isNow: true,
    apiKeys: { GUARDIAN: 'key' },
    open: (deps, urlOf) => ({ buy: () => buy(deps, urlOf('NEWS_FEEDS')) }),
    whyWrong,
    providers: [
      { name: 'NEWS_FEEDS', honest: honestNow('publisher-rss/rss2'), facts: noAmounts },
      { name: 'GDELT', honest: honestNow('gdelt/artlist-tech'), facts: noAmounts },
      { name: 'GUARDIAN', honest: honestNow('guardian/search-technology'), facts: noAmounts },
    ],
  }
  const disposables = opened.move()
  return { stage, close: () => disposables.disposeAsync() }
}
