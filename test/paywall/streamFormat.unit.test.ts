import { describe, expect, test } from 'vitest'
import { sampleReceipt } from './sampleReceipt.ts'
import { contentHeaders, receiptTrailers, streamEnd } from '../../src/paywall/streamFormat.ts'

const meta = { source: 'sample:test', asOf: '2026-11-22T00:00:00.000Z', cached: false, place: 'Zürich \u{1f680}' }
const events = { contentType: 'Text/Event-Stream ; charset=utf-8', meta }
const lines = { contentType: 'application/x-ndjson', meta }
const receipt = sampleReceipt()

describe('headers', () => {
  test('hold any meta as ASCII that parses to the same value', () => {
    const text = contentHeaders(events)['x-answer-meta'] ?? ''
    expect(text).toMatch(/^[\x20-\x7e]+$/)
    expect(JSON.parse(text)).toEqual(meta)
  })

  test('announce the trailer where there is one, and sample data', () => {
    expect(contentHeaders(lines)).toMatchObject({ trailer: 'tollbook-receipt', 'x-sample-data': 'true' })
    expect(contentHeaders({ ...events, meta: { ...meta, source: 'kraken' } })).not.toHaveProperty('x-sample-data')
    expect(contentHeaders(events)).not.toHaveProperty('trailer')
  })
})

test('a receipt is an event of an event stream and a trailer of everything else, never both', () => {
  const [last = Buffer.alloc(0), ...more] = streamEnd(events, receipt)
  expect(more).toEqual([])
  expect(Buffer.from(last).toString('utf8')).toMatch(/^\n\nevent: receipt\ndata: \{"receipt":.*\}\n\n$/)
  expect([...streamEnd(lines, receipt)]).toEqual([])
  expect(receiptTrailers(events, receipt)).toEqual({})
  expect(receiptTrailers(lines, receipt)).toEqual({ 'tollbook-receipt': receipt.jws })
})
