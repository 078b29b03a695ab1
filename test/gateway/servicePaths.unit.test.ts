import { expect, test } from 'vitest'
import { freeOperations } from '../../src/document/freeOperations.ts'
import { isServicePath } from '../../src/gateway/servicePaths.ts'
import { createBurnPage, createFinancePage, createPageFiles } from '../../src/pages/pages.ts'

test('a products file can sell no path of a page or of a documented free route', async () => {
  const pages = [await createBurnPage(''), await createPageFiles(), ...(await createFinancePage('', ''))]
  const paths = [...pages.map(({ path }) => path), ...Object.keys(freeOperations)]
  // Only the built-in chat serves these.
  const own = paths.filter((path) => !path.startsWith('/v1/models'))
  expect(own.length).toBeGreaterThan(20)
  expect(own.filter((path) => !isServicePath(path))).toEqual([])
})
