import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fillTemplate } from '@tollbook/core/pathTemplate'
import { findPathProblem, readSegments } from '../../src/product/productPath.ts'

describe('the path of a product', () => {
  test.each(['/a', '/a/b-c_d.json', '/v1/{id}', '/{a}/b/{c_2}'])('may be %s', (path) => {
    expect(findPathProblem(path)).toBeUndefined()
  })

  test.each([
    ['a', 'slash'],
    ['', 'slash'],
    ['/', 'segment ""'],
    ['/a/', 'segment ""'],
    ['/a//b', 'segment ""'],
    ['/a/../b', 'segment ".."'],
    ['/a/{b', 'braces'],
    ['/a/x{b}', 'braces'],
    ['/a/{b}{c}', 'braces'],
    ['/a/{1}', 'braces'],
    ['/a/:b', 'segment ":b"'],
    ['/a/*b', 'segment "*b"'],
    ['/a/b%20c', 'segment'],
    ['/a/ä', 'segment'],
    ['/{a}/{a}', 'one name in two segments'],
  ])('%s is a mistake: %s', (path, problem) => {
    expect(findPathProblem(path)).toContain(problem)
  })
})

const read = (...sent: readonly string[]) => readSegments('/a/{id}/b/{name}', sent)

test('segments are decoded once', () => {
  expect(read('42', 'Z%C3%BCrich+1%20%3B%25')).toEqual({ ok: true, values: { id: '42', name: 'Zürich+1 ;%' } })
})

test.each([
  ['', 'empty'],
  ['.', 'a dot segment'],
  ['..', 'a dot segment'],
  ['%2e', 'an encoded dot segment'],
  ['%2E%2e', 'an encoded dot segment'],
  ['.%2e', 'a half encoded dot segment'],
  ['a%2Fb', 'an encoded slash'],
  ['a%5cb', 'an encoded backslash'],
  ['a\\b', 'a backslash'],
  ['a%00', 'NUL'],
  ['a%0d%0ab', 'a line break'],
  ['a%7f', 'DEL'],
  ['a%C2%85', 'a C1 control'],
  ['%252e%252e', 'an encoding of an encoding'],
  ['a%20', 'a space at the end'],
  ['%25', undefined],
  ['%2', 'a broken encoding'],
  ['%zz', 'a broken encoding'],
  ['%ff', 'invalid UTF-8'],
  ['%C0%AF', 'an overlong slash'],
  ['%ED%A0%80', 'a surrogate'],
  ['a;b=1', 'a raw semicolon'],
  ['a"b', 'a quote'],
  ['a{b}', 'braces'],
  ['x'.repeat(256), 'too long'],
  ['x'.repeat(255), undefined],
])('the segment %j: %s', (sent, mistake) => {
  expect(read('42', sent).ok).toBe(mistake === undefined)
})

test('a value that was written by the template is read back as it was, or refused', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }), (value) => {
      const path = '/a/{id}'
      const got = readSegments(path, [fillTemplate(path, { id: value }).slice('/a/'.length)])
      if (got.ok) expect(got.values['id']).toBe(value)
    }),
  )
})
