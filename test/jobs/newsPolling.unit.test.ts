import { describe, expect, test } from 'vitest'
import { type PolledSource, type PollStore, startNewsPolling } from '../../src/jobs/newsPolling.ts'
import { Fault } from '@tollbook/core/fault'
import { createLog } from '../../src/machine/log.ts'
import { steppedClock } from '../support/steppedClock.ts'

type Poll = PolledSource<string>['poll']

const fine: Poll = () => Promise.resolve({ articles: ['one'], etag: '"1"', lastModified: undefined })
const broken: Poll = () => Promise.reject(new Fault('the feed cannot be reached', { retryable: true }))

function source(name: string, poll: Poll, change: Partial<PolledSource<string>> = {}): PolledSource<string> {
  const everyMs = 900_000
  return {
    name,
    lane: name,
    category: 'tech',
    provider: 'publisher-rss',
    everyMs,
    spacingMs: 0,
    whyUnavailable: () => undefined,
    poll,
    ...change,
  }
}

/** The job over a store that schedules every source once per round and records its reports. */
function start(sources: readonly PolledSource<string>[], change: Partial<PollStore<string>> = {}) {
  const clock = steppedClock()
  const lines: string[] = []
  const reported: string[] = []
  let due: string[] = []
  const polling = startNewsPolling({
    clock,
    log: createLog({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } }),
    sources,
    refresh: () => {
      reported.push('refreshed')
      return Promise.resolve()
    },
    store: {
      takePoll(ready) {
        const name = due.find((name) => ready.some((source) => source.name === name))
        due = due.filter((other) => other !== name)
        return Promise.resolve(name === undefined ? undefined : { name, etag: undefined, lastModified: undefined })
      },
      keep: ({ articles }) => Promise.resolve(articles.length),
      pollSucceeded: ({ name, etag }) => Promise.resolve(void reported.push(`${name} succeeded ${etag ?? ''}`)),
      pollFailed: (name) => Promise.resolve(void reported.push(`${name} failed`)),
      forgetOld: () => Promise.resolve(),
      ...change,
    },
  })
  return {
    reported,
    lines,
    stop: polling.stop,
    async round() {
      due = sources.map(({ name }) => name)
      await clock.step()
    },
  }
}

const events = (lines: readonly string[]) => lines.map((line) => JSON.parse(line).event)

describe('news polling', () => {
  test('keeps what it finds, settles each poll, and lets the endpoint look', async () => {
    const job = start([source('a', fine), source('b', broken)])
    await job.round()
    await job.stop()
    expect(job.reported.at(-1)).toBe('refreshed')
    expect(job.reported.slice(0, -1).sort()).toEqual(['a succeeded "1"', 'b failed'])
  })

  test('asks a source again for articles that could not be kept', async () => {
    const keep = () => Promise.reject(new Error('the database is away'))
    const job = start([source('a', fine)], { keep })
    await job.round()
    await job.stop()
    expect(job.reported).toEqual([])
  })

  test('says once that sources fail, and once that they have recovered, however often it asks', async () => {
    let poll = broken
    const job = start(['a', 'b', 'c', 'd'].map((name) => source(name, (...known) => poll(...known))))
    for (let round = 0; round < 5; round++) await job.round()
    poll = fine
    for (let round = 0; round < 5; round++) await job.round()
    await job.stop()
    expect(events(job.lines)).toEqual(['news_sources_failing', 'news_sources_recovered'])
    expect(job.lines[0]).toContain('the feed cannot be reached')
  })

  test('says once that the store is gone, and once that it is back', async () => {
    let isGone = true
    const job = start([source('a', fine)], {
      pollSucceeded: () => (isGone ? Promise.reject(new Error('no connection')) : Promise.resolve()),
    })
    for (let round = 0; round < 3; round++) await job.round()
    isGone = false
    for (let round = 0; round < 3; round++) await job.round()
    await job.stop()
    expect(events(job.lines)).toEqual(['news_polling_failed', 'news_polling_resumed'])
  })

  test('does not ask a source that rests', async () => {
    const job = start([source('a', fine, { whyUnavailable: () => 'asked a moment ago' })])
    await job.round()
    await job.stop()
    expect(job.reported).toEqual(['refreshed'])
  })

  test('stops in the middle of a poll that would never end, and reports no source as failing for it', async () => {
    const polled = Promise.withResolvers<void>()
    const endless: Poll = (_known, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Fault('left', { retryable: true })))
        polled.resolve()
      })
    const job = start([source('a', endless), source('b', endless)])
    const round = job.round()
    await polled.promise
    await job.stop()
    expect(job.lines).toEqual([])
    void round
  })
})
