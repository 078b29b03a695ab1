import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { Article } from '../articles/article.ts'
import { articlesOfFeed } from './publisherFeed.ts'
import type { FeedOrder } from './feedPool.ts'

/** Entry point of a worker thread of `feedPool.ts`. Undefined for a text that is not a feed. */
export default function work({ feed, nowMs }: FeedOrder): readonly Article[] | undefined {
  try {
    return articlesOfFeed(feed, nowMs)
  } catch (error) {
    // Classes of errors do not pass from thread to thread.
    if (error instanceof UpstreamFailure) return undefined
    throw error
  }
}
