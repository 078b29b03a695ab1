import { expect, test } from 'vitest'
import { prefersHtml } from '../../src/transport/mediaRange.ts'

test.each([
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', true],
  ['TEXT/HTML', true],
  ['application/json;q=0.5, text/html', true],
  ['*/*', false],
  ['text/*', false],
  ['application/json, text/html', false],
  ['application/json, text/html;q=0.9', false],
  ['text/html;q=0', false],
  ['text/html;q=five', false],
  [`text/html,${'a/b,'.repeat(400)}`, false],
  [undefined, false],
])('Accept %s comes from a person: %s', (accept, expected) => {
  expect(prefersHtml(accept)).toBe(expected)
})
