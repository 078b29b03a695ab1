import { stringify } from 'yaml'
import { mistakesOf } from './fileMistake.ts'
import { readOpenApi } from './openApiDocument.ts'
import { type ImportedRoute, routeOf } from './openApiRoute.ts'
import { SchemaProblem } from './parameterSchema.ts'
import { productsFileShape } from './productsFile.ts'

export interface ImportOrder {
  readonly document: string
  /** Names of operations, such as `GET /pets/{id}`. */
  readonly operations: readonly string[]
  /** Price of one request in US dollars, as a decimal text. */
  readonly priceUsd: string
  /** Name of the upstream. Default: derived from the title of the document. */
  readonly upstream?: string | undefined
  /** Start of the routes' paths. Default: a slash and the name of the upstream. */
  readonly prefix?: string | undefined
  /** Base URL of the upstream. Default: the first server of the document. */
  readonly url?: string | undefined
}

/**
 * Writes a products file that sells operations of an OpenAPI document. The remarks state what the operator must still
 * decide.
 */
export function importOpenApi(order: ImportOrder) {
  const { operations, priceUsd } = order
  const document = readOpenApi(order.document)
  const upstream = order.upstream ?? nameOf(document.title)
  const prefix = order.prefix ?? `/${upstream}`
  const url = order.url ?? document.serverUrl
  if (url === undefined) throw new SchemaProblem('names no server; give its address with --url')
  const facts = { upstream, prefix, price: { usd: priceUsd } }
  const routes: readonly ImportedRoute[] = operations.map((name) => routeOf(document.operation(name), facts))
  const entries = { version: 1, upstreams: { [upstream]: { url } }, routes: routes.map(({ entry }) => entry) }
  // Report a wrong option here, and not when the file is checked.
  const { error } = productsFileShape.safeParse(entries)
  const mistakes = error === undefined ? [] : mistakesOf(error, productsFileShape, [])
  if (mistakes.length > 0)
    throw new SchemaProblem(mistakes.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '))
  return { text: stringify(entries, { lineWidth: 120 }), remarks: routes.flatMap(({ remarks }) => remarks) }
}

function nameOf(title: string): string {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const name = words
    .join('-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 32)
    .replace(/-+$/, '')
  return name === '' ? 'api' : name
}
