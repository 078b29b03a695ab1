import { dirname, resolve } from 'node:path'
import { type FileMistake, type FilePath, mistakesOf } from './fileMistake.ts'
import { readOpenApi } from './openApiDocument.ts'
import { routeOf } from './openApiRoute.ts'
import { isSchema, SchemaProblem } from './parameterSchema.ts'
import { openApiShape } from './productsFile.ts'

/** A route of an OpenAPI document that is not yet checked against `routeShape`. */
export interface PlacedRoute {
  readonly at: FilePath
  readonly entry: unknown
}

interface ExpandedEntries {
  readonly routes: readonly PlacedRoute[]
  readonly mistakes: readonly FileMistake[]
}

export function expandOpenApi(entries: readonly unknown[], file: string): ExpandedEntries {
  const expanded = entries.map((entry, index) => expand(entry, { at: ['openapi', index], file }))
  return {
    routes: expanded.flatMap(({ routes }) => routes),
    mistakes: expanded.flatMap(({ mistakes }) => mistakes),
  }
}

function expand(entry: unknown, { at, file }: { readonly at: FilePath; readonly file: string }): ExpandedEntries {
  const parsed = openApiShape.safeParse(entry)
  if (!parsed.success) return { routes: [], mistakes: mistakesOf(parsed.error, openApiShape, at) }
  const { document: name, upstream, prefix = `/${upstream}`, operations } = parsed.data
  // Pass the unparsed price on, because the check of the route parses it.
  const price = isSchema(entry) ? entry['price'] : undefined
  const mistakes: FileMistake[] = []
  const document = unlessMistaken(() => readOpenApi(resolve(dirname(file), name)), [...at, 'document'], mistakes)
  if (document === undefined) return { routes: [], mistakes }
  const routes = operations.flatMap((operation, index): readonly PlacedRoute[] => {
    const place = [...at, 'operations', index]
    const route = unlessMistaken(
      () => routeOf(document.operation(operation), { upstream, prefix, price }),
      place,
      mistakes,
    )
    return route === undefined ? [] : [{ at: place, entry: route.entry }]
  })
  return { routes, mistakes }
}

function unlessMistaken<T>(read: () => T, path: FilePath, mistakes: FileMistake[]): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof SchemaProblem)) throw error
    mistakes.push({ path, message: error.message })
    return undefined
  }
}
