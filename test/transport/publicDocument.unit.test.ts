import { expect, test } from 'vitest'
import { createPublicDocument, createPublicText } from '../../src/transport/publicDocument.ts'

test('facts that differ in asOf only keep the body and its tag, and others do not', async () => {
  const render = createPublicDocument()
  const first = await render({ burned: 1, asOf: 'noon' })
  expect(first.bytes.toString()).toBe('{"success":true,"data":{"burned":1,"asOf":"noon"}}')
  expect(await render({ burned: 1, asOf: 'later' })).toBe(first)
  const second = await render({ burned: 2, asOf: 'later' })
  expect(second.bytes.toString()).toContain('"burned":2')
  expect(second.entityTag).not.toBe(first.entityTag)
})

test('a text is rendered once for each version', async () => {
  const prepare = createPublicText()
  let renderings = 0
  const render = () => `rendering ${++renderings}`
  for (const version of ['a', 'a', 'b']) await prepare(version, render)
  expect(renderings).toBe(2)
})
