import { expect, test } from 'vitest'
import { countedEvents, countReply } from '../../src/gateway/meteredStream.ts'

const replyOf = (content: string) => ({ choices: [{ delta: { content } }] })
const tokens = { usage: { prompt_tokens: 7, completion_tokens: 3 } }

test('a line of a stream ends in LF, CRLF or CR, so that each event is counted separately', async () => {
  const parts = ['data: 1\n\n', 'data: 2\r\n\r\n', 'data: 3\r\r', 'data: 4\n\r\n', 'data: 5\r\ndata: 6\r\n\n']
  async function* chunks() {
    yield Buffer.from(parts.join('') + 'data: 7\r')
    yield Buffer.from('\ndata: 8\r\n\r\n')
  }
  const usage = { input: 0, output: 0, isEstimated: false }
  const events = countedEvents(chunks(), { take: (event) => event, cut: () => '', usage: () => usage })
  const texts: string[] = []
  for await (const event of events) texts.push(Buffer.from(event).toString())
  expect(texts).toEqual([...parts, 'data: 7\r\ndata: 8\r\n\r\n'])
})

test('an event of more than 1 MiB ends a stream, because it would be kept in memory until its end', async () => {
  async function* endless() {
    for (let chunk = 0; chunk < 40; chunk++) yield Buffer.alloc(50_000, 'a')
  }
  const usage = { input: 0, output: 0, isEstimated: false }
  const events = countedEvents(endless(), { take: (event) => event, cut: () => '', usage: () => usage })
  await expect(events.next()).rejects.toThrow('longer than 1048576 bytes')
})

test.each([
  ['in another wire format', [{ type: 'delta', delta: 'ab' }, { delta: 'cdef' }], { output: 2, isEstimated: true }],
  ['with other events before its reply', [{ sources: ['ab'] }, replyOf('1234')], { output: 1, isEstimated: true }],
  ['with its tokens in an event without choices', [replyOf('1'), tokens], { output: 3, isEstimated: false }],
])('a stream %s is counted', (_what, events, expected) => {
  const counter = countReply({ order: { a: 'b' }, input: 7, outputMax: 5, isByBudget: false, wantsUsage: false })
  for (const event of events) {
    const sent = Buffer.from(`data: ${JSON.stringify(event)}\n\n`)
    expect(counter.take(sent)).toBe(sent)
  }
  expect(counter.usage()).toEqual({ input: 7, ...expected })
})
