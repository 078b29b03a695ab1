import { Piscina } from 'piscina'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { Article } from '../articles/article.ts'
import { threadArguments } from '../../../sourcing/threadArguments.ts'
import type { FeedText } from './publisherFeed.ts'

/**
 * Reads feeds in a worker thread, because the parser needs minutes for some texts of a megabyte and would block the
 * event loop.
 */
export interface FeedPool {
  /** Throws only `UpstreamFailure`: a defect of the parser counts as a bad feed too. */
  articlesOf(order: FeedOrder, signal: AbortSignal): Promise<readonly Article[]>
  close(): Promise<void>
}

export interface FeedOrder {
  readonly feed: FeedText
  readonly nowMs: number
}

// Time limit for parsing a feed. It includes the wait for other feeds and the start of the thread.
const readMsMax = 10_000
const waitingMax = 100
// Memory limit of the thread, far above the need of a usual feed.
const resourceLimits = { maxOldGenerationSizeMb: 256 }
const idleMs = 60_000

/**
 * Creates the pool. A hostile feed that exceeds the limits for memory or time ends only the thread, and not the
 * process.
 */
export function createFeedPool(readMs = readMsMax): FeedPool {
  const pool = new Piscina<FeedOrder, readonly Article[] | undefined>({
    filename: new URL('./feedWorker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: waitingMax,
    idleTimeout: idleMs,
    resourceLimits,
    execArgv: [...threadArguments],
  })
  return {
    articlesOf: (order, signal) => read(pool, order, AbortSignal.any([signal, AbortSignal.timeout(readMs)])),
    close: () => pool.destroy(),
  }
}

async function read(
  pool: Piscina<FeedOrder, readonly Article[] | undefined>,
  order: FeedOrder,
  signal: AbortSignal,
): Promise<readonly Article[]> {
  const articles = await pool.run(order, { signal }).catch((error: unknown) => {
    // The thread exceeded its limit of time or memory, `signal` ended it, or the parser has a defect.
    throw new UpstreamFailure('bad_payload', 'the feed takes too long or too much memory to read', { cause: error })
  })
  if (articles === undefined) throw new UpstreamFailure('bad_payload', 'no feed')
  return articles
}
