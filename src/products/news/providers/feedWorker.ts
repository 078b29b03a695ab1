import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { Article } from '../articles/article.ts'
import { articlesOfFeed } from './publisherFeed.ts'
import type { FeedOrder } from './feedPool.ts'

/** Entry point of a worker thread of `feedPool.ts`. Undefined if the text is not a feed. */
export default function work({ feed, nowMs }: FeedOrder): readonly Article[] | undefined {
  try {
    return articlesOfFeed(feed, nowMs)
  } catch (error) {
    // Return undefined instead of the error, because an error loses its class between threads.
    if (error instanceof UpstreamFailure) return undefined
    throw error
  }
}
