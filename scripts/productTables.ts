import { readFile, writeFile } from 'node:fs/promises'
import { productTable, providerTable } from '../src/document/productTable.ts'
import { builtinNames } from '../src/product/builtinName.ts'
import { loadProducts } from '../src/products/catalog.ts'

const products = await loadProducts(builtinNames)

/** Writes the tables of the products into docs/api.md and docs/providers.md from their definitions. */
const pages = [
  { url: new URL('../docs/api.md', import.meta.url), marker: 'products', table: productTable(products) },
  { url: new URL('../docs/providers.md', import.meta.url), marker: 'providers', table: providerTable(products) },
]

export interface TablePage {
  readonly name: string
  readonly written: string
  readonly generated: string
}

/** Each page in its current state, and with its table generated again. */
export function readTablePages(): Promise<readonly TablePage[]> {
  return Promise.all(
    pages.map(async ({ url, marker, table }) => {
      const written = await readFile(url, 'utf8')
      const place = new RegExp(`(<!-- ${marker}:.*?-->)[\\s\\S]*?(<!-- /${marker} -->)`)
      if (!place.test(written)) throw new Error(`${url.pathname} has no place for the table "${marker}"`)
      const generated = written.replace(place, (_all, open: string, close: string) => `${open}\n${table}\n${close}`)
      return { name: url.pathname, written, generated }
    }),
  )
}

if (import.meta.main) for (const { name, generated } of await readTablePages()) await writeFile(name, generated)
