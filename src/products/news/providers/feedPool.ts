import { Piscina } from 'piscina'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { Article } from '../articles/article.ts'
import { threadArguments } from '../../../sourcing/threadArguments.ts'
import type { FeedText } from './publisherFeed.ts'

/** Reads feeds in a thread: the parser needs minutes for some texts of a megabyte, which would block the event loop. */
export interface FeedPool {
  /** Throws only `UpstreamFailure`. */
  articlesOf(order: FeedOrder, signal: AbortSignal): Promise<readonly Article[]>
  close(): Promise<void>
}

export interface FeedOrder {
  readonly feed: FeedText
  readonly nowMs: number
}

// A feed of a megabyte takes some 100 ms. The rest allows for a busy machine and the start of the thread.
const readMsMax = 10_000
const waitingMax = 100
// A parsed feed takes some 20 MB.
const resourceLimits = { maxOldGenerationSizeMb: 256 }
const idleMs = 60_000

/** Parses feeds in a thread with limited memory and time, so that a hostile feed can only end the thread. */
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
    // The thread was stopped, or ran out of memory.
    throw new UpstreamFailure('bad_payload', 'the feed takes too long or too much memory to read', { cause: error })
  })
  if (articles === undefined) throw new UpstreamFailure('bad_payload', 'no feed')
  return articles
}
