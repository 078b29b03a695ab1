import { readFile, writeFile } from 'node:fs/promises'
import { formatDecimal } from '@tollbook/core/money'
import { shownParameters } from '../src/document/shownParameters.ts'
import { usdDecimals } from '../src/pricing/priceList.ts'
import { builtinNames } from '../src/product/builtinName.ts'
import type { ProductFacts } from '../src/product/productFacts.ts'
import { loadProducts } from '../src/products/catalog.ts'

const products = await loadProducts(builtinNames)
// As in `shownParameters`.
const separator = ' · '

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

/** Lists the products with prices and parameters as a Markdown table. For docs/api.md. */
export function productTable(products: readonly ProductFacts[]): string {
  const shown = new Set<string>()
  const rows = products.map((product) => {
    const parameters = withoutRepeated(shownParameters(product.parameters).split(separator), shown)
    return `| \`${product.method} ${product.path}\` | ${shownUsd(product)} | ${parameters.replaceAll('|', String.raw`\|`)} |`
  })
  return ['| endpoint | USD | parameters |', '|---|---|---|', ...rows].join('\n')
}

/** Adds the parameters to `shown`. Those that an earlier product has with the same text are only named. */
function withoutRepeated(parameters: readonly string[], shown: Set<string>): string {
  const repeated = parameters.filter((parameter) => shown.has(parameter))
  const others = parameters.filter((parameter) => !shown.has(parameter))
  for (const parameter of others) shown.add(parameter)
  const names = repeated.map((parameter) => parameter.slice(0, parameter.indexOf(':')))
  return [...others, ...(names.length === 0 ? [] : [`${names.join(', ')}: as above`])].join(separator)
}

/** Lists the providers of each product as a Markdown table. For docs/providers.md. */
function providerTable(products: readonly ProductFacts[]): string {
  const rows = products.map(({ method, path, providers }) => {
    const names = providers.map((name) => `\`${name}\``).join(', ')
    return `| \`${method} ${path}\` | ${names === '' ? 'none' : names} |`
  })
  return ['| endpoint | providers |', '|---|---|', ...rows].join('\n')
}

/** Shows at least three decimals, like the prices in the specification. */
function shownUsd({ priceMicroUsd }: ProductFacts): string {
  const [whole = '', fraction = ''] = formatDecimal(priceMicroUsd, usdDecimals).split('.')
  return `${whole}.${fraction.padEnd(3, '0')}`
}

if (import.meta.main) for (const { name, generated } of await readTablePages()) await writeFile(name, generated)
