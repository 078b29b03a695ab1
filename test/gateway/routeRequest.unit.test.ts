import { expect, test } from 'vitest'
import { hasOnlyJson } from '../../src/gateway/productsFile.ts'
import { fixedNames } from '../../src/gateway/routeRequest.ts'

test('every parameter that `to` writes is fixed, and a path without a query fixes none', () => {
  expect(fixedNames({ to: '/x/{p}?key=1&unit=c&key=2' })).toEqual(['key', 'unit', 'key'])
  expect([fixedNames({ to: '/x' }), fixedNames({})]).toEqual([[], []])
})

test('an envelope takes only JSON: of two types, each must be JSON', () => {
  const isJson = (...types: string[]) => hasOnlyJson({ content_types: types })
  expect(isJson('application/json', 'application/problem+json')).toBe(true)
  expect([isJson('application/json', 'text/plain'), isJson('text/plain', 'application/json')]).toEqual([false, false])
})
