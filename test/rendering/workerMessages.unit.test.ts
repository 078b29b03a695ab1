import { expect, test } from 'vitest'
import { finalUrlLengthMax, resultBytesMax } from '../../src/rendering/renderer.ts'
import { workerNews } from '../../src/rendering/workerMessages.ts'

/* A page that takes over the worker may send anything to the service. */

const rendered = {
  bytes: Buffer.from('picture'),
  httpStatus: 200,
  finalUrl: 'https://a.example/',
  missing: [{ reason: 'still_loading', detail: '1 request was not answered' }],
  missingGlyphs: 0,
  clipped: false,
  refusedRequests: 2,
}
const failed = { type: 'failed', id: 1, kind: 'timeout', message: 'late', endsPayment: true }

test.each([
  { type: 'rendered', id: 0, rendered },
  { type: 'rendered', id: 7, rendered: { ...rendered, httpStatus: undefined, finalUrl: undefined, missing: [] } },
  failed,
  { type: 'state' },
  { type: 'state', unavailable: 'no browser', problem: 'no browser' },
  { type: 'log', level: 'warn', fields: { event: 'x' } },
  { type: 'stalled', id: 1 },
  { type: 'browserLost', id: 1 },
])('the service understands $type', (news) => {
  expect(workerNews.parse(news)).toEqual(news)
})

test.each([
  [
    'bytes that are too many',
    { type: 'rendered', id: 1, rendered: { ...rendered, bytes: Buffer.alloc(resultBytesMax + 1) } },
  ],
  ['bytes that are a text', { type: 'rendered', id: 1, rendered: { ...rendered, bytes: 'picture' } }],
  [
    'an address that is too long',
    { type: 'rendered', id: 1, rendered: { ...rendered, finalUrl: 'a'.repeat(finalUrlLengthMax + 1) } },
  ],
  [
    'too many reasons',
    { type: 'rendered', id: 1, rendered: { ...rendered, missing: Array(21).fill(rendered.missing[0]) } },
  ],
  [
    'a reason that does not exist',
    { type: 'rendered', id: 1, rendered: { ...rendered, missing: [{ reason: 'x', detail: '' }] } },
  ],
  ['a negative count', { type: 'rendered', id: 1, rendered: { ...rendered, refusedRequests: -1 } }],
  ['a failure of another kind', { ...failed, kind: 'refunded' }],
  ['a message that is too long', { ...failed, message: 'x'.repeat(4_001) }],
  ['a negative id', { ...failed, id: -1 }],
  ['a level that would alarm', { type: 'log', level: 'error', fields: {} }],
  ['another type', { type: 'close' }],
])('the service does not take %s', (_, news) => {
  expect(workerNews.safeParse(news).success).toBe(false)
})
