import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { longFiles } from './longestFirst.ts'

test('every file that is started first exists', () => {
  expect(longFiles.filter((path) => !existsSync(path))).toEqual([])
})
