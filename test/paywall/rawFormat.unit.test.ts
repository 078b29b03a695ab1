import { describe, expect, test } from 'vitest'
import { rawBody, rawHeaders, readStoredRaw, storeRaw, wholeAnswer } from '../../src/paywall/rawFormat.ts'
import type { Raw } from '../../src/product/product.ts'
import { referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { sampleReceipt } from './sampleReceipt.ts'

const meta = { source: 'sample:test', asOf: '2026-11-22T00:00:00.000Z', cached: false, place: 'Zürich' }
const raw: Raw = { kind: 'raw', contentType: 'image/png', bytes: Buffer.from([0, 255, 10, 13, 128]), meta }
const receipt = sampleReceipt()
const settlement = settlementOf(referenceNumber(1))
const sold = (more: Partial<Raw> = {}) => ({
  raw: { ...raw, ...more },
  receipt,
  fulfilment: { settlement, attemptId: 'attempt_1' },
})

test('the headers have the receipt, its address, and the meta', () => {
  expect(rawHeaders(sold(), {})).toEqual({
    'content-type': 'image/png',
    'x-answer-meta': String.raw`{"asOf":"2026-11-22T00:00:00.000Z","cached":false,"place":"Z\u00fcrich","source":"sample:test"}`,
    'tollbook-receipt': receipt.jws,
    'receipt-location': `/api/receipts/${settlement.reference}?attempt=attempt_1`,
    'x-sample-data': 'true',
  })
})

test.each([
  'Set-Cookie',
  'Content-Length',
  'content-encoding',
  'Transfer-Encoding',
  'connection',
  'Access-Control-Allow-Origin',
  'Tollbook-Receipt',
  'PAYMENT-RESPONSE',
  'cache-control',
  'location',
  'X-Address-State',
  'CDN-Cache-Control',
  'vendor-cdn-cache-control',
  'Surrogate-Control',
  'Edge-Control',
  'X-Sendfile',
])('a product cannot set the header %s', (name) => {
  const plain = rawHeaders(sold(), {})
  expect(rawHeaders(sold({ headers: { [name]: 'x', ETag: '"1"' } }), {})).toEqual({ ...plain, etag: '"1"' })
})

test('headers that are too long for a proxy are left out, so that every paid answer arrives', () => {
  const value = 'x'.repeat(600)
  const headers = { first: value, second: value, 'payment-response': 'x' }
  const sent = rawHeaders(sold({ headers }), { 'payment-response': 'p'.repeat(2_900) })
  expect(sent).toMatchObject({
    first: value,
    'payment-response': 'p'.repeat(2_900),
    'receipt-location': expect.any(String),
  })
  expect(sent).not.toHaveProperty('second')
  expect(sent).not.toHaveProperty('tollbook-receipt')
})

describe('an answer is refused before it is recorded', () => {
  test('if it is too long, and then it is not sold', () => {
    const bytes = Buffer.alloc(8 * 1024 * 1024 + 1)
    expect(wholeAnswer({ ...raw, bytes })).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    expect(wholeAnswer({ ...raw, bytes: bytes.subarray(1) })).toMatchObject({ kind: 'whole' })
  })

  test.each([
    [{ contentType: 'text/plain\r\nx: 1' }, 'content-type'],
    [{ headers: { etag: 'a\nb' } }, 'etag'],
    [{ headers: { 'a b': '1' } }, 'a b'],
    [{ headers: { place: '\u{1f680}' } }, 'place'],
  ])('if a header cannot be sent: %j', (more, name) => {
    expect(() => wholeAnswer({ ...raw, ...more })).toThrow(`${name} is not a valid header`)
  })
})

describe('the stored form', () => {
  test.each([{}, { headers: { etag: '"1"' } }])('has the same bytes and headers with %j', (more) => {
    const { kind: _kind, ...stored } = { ...raw, ...more }
    expect(readStoredRaw(storeRaw(stored, raw.bytes))).toEqual(stored)
  })

  test('of an envelope is another one, whatever its data', () => {
    expect(readStoredRaw('{"data":{"stream":{"base64":"","contentType":""}},"meta":{}}')).toBeUndefined()
  })
})

test('the body is sent as it is, and an event stream ends with its receipt', () => {
  expect(rawBody(sold())).toEqual(Buffer.from(raw.bytes))
  expect(rawBody(sold({ contentType: 'text/event-stream' })).toString('latin1')).toContain('event: receipt\ndata: {')
})
