import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { describeError, Fault } from '@tollbook/core/fault'
import { z } from 'zod'
import type { BuiltinChoice } from '../product/builtinName.ts'
import { type CheckedRoute, checkRoute, type RouteContext } from './checkRoute.ts'
import { type FileMistake, mistakesOf } from './fileMistake.ts'
import { fillVariables, findWrittenSecrets, type ReadVariable } from './fileVariables.ts'
import { expandOpenApi } from './openApiEntries.ts'
import {
  builtinShape,
  productsFileShape,
  routeShape,
  type UpstreamEntry,
  upstreamName,
  upstreamShape,
} from './productsFile.ts'
import { readYaml } from './readYaml.ts'

export interface ProductsFile {
  readonly builtin: readonly BuiltinChoice[]
  readonly upstreams: ReadonlyMap<string, UpstreamEntry>
  readonly routes: readonly CheckedRoute[]
}

export interface ReadFileDeps extends Pick<RouteContext, 'handlerTimeoutMs'> {
  readonly readVariable: ReadVariable
}

const fileBytesMax = 4 * 1024 * 1024

/**
 * Reads and checks the products file. Throws one fault that lists the mistakes, each with its line and how to fix it.
 * Errors of YAML are reported first, without other mistakes.
 */
export function readProductsFile(path: string, deps: ReadFileDeps): ProductsFile {
  const yaml = readYaml(path, readText(path))
  if (yaml.syntax.length > 0) throw fileFault(yaml.syntax)
  const filled = fillVariables(yaml.value, deps.readVariable)
  const read = readEntries(filled.value, { ...deps, file: resolve(path) })
  const mistakes = [...filled.mistakes, ...findWrittenSecrets(yaml.value), ...read.mistakes]
  // Report only the first mistake of each place, because a missing variable also makes its place invalid.
  const byPlace = new Map(mistakes.toReversed().map((mistake) => [JSON.stringify(mistake.path), mistake] as const))
  if (byPlace.size > 0) throw fileFault(yaml.describe([...byPlace.values()]))
  return read.value
}

function fileFault(lines: readonly string[]): Fault {
  const s = lines.length === 1 ? '' : 's'
  const text = lines.map((line) => `\n  ${line}`).join('')
  return new Fault(`the products file has ${lines.length} mistake${s}:${text}`, { retryable: false })
}

function readText(path: string): string {
  try {
    const facts = statSync(path)
    if (facts.isFile() && facts.size <= fileBytesMax) return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Fault(`PRODUCTS_FILE cannot be read: ${describeError(error)}`, { retryable: false })
  }
  throw new Fault(`PRODUCTS_FILE must name a file of at most ${fileBytesMax} bytes (got ${path})`, { retryable: false })
}

interface ReadEntries {
  readonly value: ProductsFile
  readonly mistakes: readonly FileMistake[]
}

// Leave the entries unchecked here. They are checked one by one later, so that a mistake in one entry does not hide
// mistakes in others.
const topShape = productsFileShape.extend({
  builtin: z.array(z.unknown()).default([]),
  upstreams: z.record(z.string(), z.unknown()).default({}),
  routes: z.array(z.unknown()).default([]),
  openapi: z.array(z.unknown()).default([]),
})

function readEntries(
  value: unknown,
  { file, handlerTimeoutMs }: ReadFileDeps & { readonly file: string },
): ReadEntries {
  const top = topShape.safeParse(value)
  if (!top.success)
    return {
      value: { builtin: [], upstreams: new Map(), routes: [] },
      mistakes: mistakesOf(top.error, productsFileShape, []),
    }
  const { builtin, mistakes: builtinMistakes } = readBuiltin(top.data.builtin)
  const mistakes = [...builtinMistakes]
  const upstreams = new Map<string, UpstreamEntry>()
  for (const [name, entry] of Object.entries(top.data.upstreams)) {
    const path = ['upstreams', name]
    const nameRead = upstreamName.safeParse(name)
    const parsed = upstreamShape.safeParse(entry)
    if (!nameRead.success)
      mistakes.push({ path, message: 'must be a name of lower-case letters, digits and -', isName: true })
    if (parsed.success) upstreams.set(name, parsed.data)
    else mistakes.push(...mistakesOf(parsed.error, upstreamShape, path))
  }
  const context = { file, handlerTimeoutMs, upstreams, upstreamNames: Object.keys(top.data.upstreams) }
  const routes: CheckedRoute[] = []
  const imported = expandOpenApi(top.data.openapi, file)
  mistakes.push(...imported.mistakes)
  // Routes of the file precede those of OpenAPI documents, so a shared path is reported at the imported route.
  const written = top.data.routes.map((entry, index) => ({ at: ['routes', index], entry }))
  for (const { at, entry } of [...written, ...imported.routes]) {
    const parsed = routeShape.safeParse(entry)
    if (!parsed.success) mistakes.push(...mistakesOf(parsed.error, routeShape, at))
    const checked = parsed.success ? checkRoute(parsed.data, { ...context, at, earlier: routes }) : undefined
    if (checked === undefined) continue
    if ('mistakes' in checked) mistakes.push(...checked.mistakes)
    else routes.push(checked)
  }
  if (top.data.routes.length + top.data.openapi.length + top.data.builtin.length === 0)
    mistakes.push({ path: ['routes'], message: 'sells nothing; add a route' })
  return { value: { builtin, upstreams, routes }, mistakes }
}

function readBuiltin(entries: readonly unknown[]) {
  const mistakes: FileMistake[] = []
  const builtin: BuiltinChoice[] = []
  for (const [index, entry] of entries.entries()) {
    const path = ['builtin', index]
    const parsed = builtinShape.safeParse(entry)
    if (!parsed.success) mistakes.push(...mistakesOf(parsed.error, builtinShape, path))
    else if (builtin.some(({ name }) => name === parsed.data.name))
      mistakes.push({ path, message: `${parsed.data.name} is listed twice; remove one entry` })
    else builtin.push(parsed.data)
  }
  return { builtin, mistakes }
}
