import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { productsFileSchema } from '../../src/gateway/productsFile.ts'
import { readProductsFile } from '../../src/gateway/readProductsFile.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { examplesOfPage } from './pageExamples.ts'

test('the published JSON Schema is that of the code', async () => {
  const schema = `${JSON.stringify(productsFileSchema(), undefined, 2)}\n`
  await expect(schema).toMatchFileSnapshot('../../docs/tollbook.schema.json')
})

test('the page names every member of an upstream and of a route', () => {
  const page = readFileSync('docs/gateway.md', 'utf8')
  const names = [...page.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  expect(new Set(names)).toEqual(new Set(memberNames()))
})

const members = z
  .object({ properties: z.record(z.string(), z.unknown()) })
  .transform((one) => Object.keys(one.properties))
const schemaShape = z.object({
  properties: z.object({
    upstreams: z.object({ additionalProperties: members }),
    routes: z.object({ items: members }),
  }),
})

function memberNames() {
  const { upstreams, routes } = schemaShape.parse(productsFileSchema()).properties
  return [...upstreams.additionalProperties, ...routes.items]
}

test('the examples of the page have no mistakes', async () => {
  const folder = await makeScratchDirectory()
  const examples = examplesOfPage()
  expect(examples.map(({ name }) => name)).toEqual(['own-api', 'openai', 'by-use'])
  for (const { name, text } of examples) {
    const file = join(folder, `${name}.yaml`)
    writeFileSync(file, text)
    const { routes } = readProductsFile(file, { readVariable: () => ({ value: 's3cret' }), handlerTimeoutMs: 30_000 })
    expect(routes.length, name).toBeGreaterThan(0)
  }
})
