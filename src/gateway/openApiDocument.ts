import { readFileSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { dereference, upgrade } from '@scalar/openapi-parser'
import { describeError } from '@tollbook/core/fault'
import { parse } from 'yaml'
import { isSchema, type Schema, SchemaProblem } from './parameterSchema.ts'
import { unknownName } from './fileMistake.ts'

/** An OpenAPI document whose operations can be sold. */
export interface OpenApiDocument {
  readonly title: string
  /** Address of the first server. Undefined if the document has none, or a relative one. */
  readonly serverUrl: string | undefined
  /** Returns an operation such as `GET /pets/{id}` in the form of OpenAPI 3.1, without references. */
  operation(name: string): Operation
}

export interface Operation {
  readonly method: string
  readonly path: string
  /** Parameters of the path item come before those of the operation. */
  readonly parameters: readonly unknown[]
  readonly requestBody: unknown
  readonly summary: string | undefined
  /** Media types of the answers with a 2xx status. */
  readonly answerTypes: readonly string[]
}

const versions = /^3\.[01]\.\d+$/
const fileBytesMax = 16 * 1024 * 1024
const filesMax = 200
const nodesMax = 20_000

/**
 * Reads a document of OpenAPI 3.0 or 3.1 with the files that it refers to. They must be in its folder, because a
 * document is often from another author. Nothing is fetched.
 */
export function readOpenApi(file: string): OpenApiDocument {
  const files = readFiles(resolve(file))
  const entry = files[0]?.specification ?? {}
  const version = entry['openapi']
  if (typeof version !== 'string' || !versions.test(version))
    throw new SchemaProblem(`must be OpenAPI 3.0 or 3.1 (got ${JSON.stringify(version ?? entry['swagger'] ?? null)})`)
  const { schema } = dereference(files)
  const document: Schema = schema ?? {}
  const paths = isSchema(document['paths']) ? document['paths'] : {}
  const info = isSchema(document['info']) ? document['info'] : {}
  return {
    title: typeof info['title'] === 'string' ? info['title'] : 'api',
    serverUrl: serverUrlOf(document['servers']),
    operation: (name) => findOperation(paths, { version, name }),
  }
}

interface WantedOperation {
  readonly version: string
  readonly name: string
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

function findOperation(paths: Schema, { version, name }: WantedOperation): Operation {
  const [, method = '', path = ''] = /^([A-Za-z]+) (\/\S*)$/.exec(name) ?? []
  const verb = methods.find((one) => one === method.toLowerCase())
  const item = Object.hasOwn(paths, path) ? paths[path] : undefined
  const found = isSchema(item) && verb !== undefined ? item[verb] : undefined
  if (!isSchema(item) || !isSchema(found) || verb === undefined)
    throw new SchemaProblem(`operation "${name}" ${unknownName(name, namesOf(paths))}`)
  const own = {
    parameters: [...listOf(item['parameters']), ...listOf(found['parameters'])],
    requestBody: found['requestBody'] ?? {},
  }
  // Only the parts that are sold are upgraded: answers in the wild are often invalid, and schemas without end.
  const copied = copyTree(own, { above: new Set(), left: { nodes: nodesMax }, name })
  const upgraded = upgrade({
    openapi: version,
    info: { title: '', version: '' },
    paths: { [path]: { [verb]: copied } },
  })
  const operation = memberOf(upgraded.specification, 'paths', path, verb)
  return {
    method: verb.toUpperCase(),
    path,
    parameters: listOf(operation['parameters']),
    requestBody: operation['requestBody'],
    summary: [found['summary'], found['description'], found['operationId']].find((text) => typeof text === 'string'),
    answerTypes: answerTypesOf(found['responses']),
  }
}

function namesOf(paths: Schema): readonly string[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => (isSchema(item) && method in item ? [`${method.toUpperCase()} ${path}`] : [])),
  )
}

function memberOf(node: unknown, ...names: readonly string[]): Schema {
  const found = names.reduce<unknown>((at, name) => (isSchema(at) ? at[name] : undefined), node)
  return isSchema(found) ? found : {}
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function answerTypesOf(responses: unknown): readonly string[] {
  const sold = Object.entries(isSchema(responses) ? responses : {}).filter(([status]) => status.startsWith('2'))
  return [...new Set(sold.flatMap(([, response]) => Object.keys(memberOf(response, 'content'))))]
}

function serverUrlOf(servers: unknown): string | undefined {
  const [server] = listOf(servers)
  if (!isSchema(server) || typeof server['url'] !== 'string') return undefined
  const filled = server['url'].replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const standard = memberOf(server, 'variables', name)['default']
    return typeof standard === 'string' ? standard : whole
  })
  return /^https?:\/\/[^{}]+$/.test(filled) ? filled.replace(/\/+$/, '') : undefined
}

interface Copying {
  readonly above: ReadonlySet<unknown>
  readonly left: { nodes: number }
  readonly name: string
}

/** Copies a resolved part into a tree. A reference that is left leads to another host, or out of the folder. */
function copyTree(node: unknown, copying: Copying): unknown {
  const { above, left, name } = copying
  if (typeof node !== 'object' || node === null) return node
  if (above.has(node)) throw new SchemaProblem(`operation "${name}" has a schema that refers to itself`)
  if (--left.nodes < 0) throw new SchemaProblem(`operation "${name}" has more than ${nodesMax} members`)
  const inside = { ...copying, above: new Set([...above, node]) }
  if (Array.isArray(node)) return node.map((one) => copyTree(one, inside))
  const entries: (readonly [string, unknown])[] = Object.entries(node)
  const reference = entries.find(([key, value]) => key === '$ref' && typeof value === 'string')
  if (reference !== undefined)
    throw new SchemaProblem(
      `operation "${name}" refers to ${String(reference[1])}, which is not in a file of the folder`,
    )
  // Examples are values, in which a name such as $ref means nothing.
  const isValue = (key: string) => key === 'example' || key === 'examples' || key === 'default'
  return Object.fromEntries(entries.map(([key, value]) => [key, isValue(key) ? value : copyTree(value, inside)]))
}

interface ReadFile {
  readonly dir: string
  readonly isEntrypoint: boolean
  readonly references: string[]
  readonly filename: string
  readonly specification: Record<string, unknown>
}

/** Reads the document and the files of its folder to which it refers, with their addresses made absolute. */
function readFiles(entry: string): ReadFile[] {
  const files: ReadFile[] = []
  const waiting = [entry]
  for (let filename = waiting.shift(); filename !== undefined; filename = waiting.shift()) {
    if (files.some((file) => file.filename === filename)) continue
    if (files.length === filesMax) throw new SchemaProblem(`has more than ${filesMax} files`)
    const references = new Set<string>()
    const specification = absolute(readDocument(filename), { filename, folder: dirname(entry), references })
    if (!isSchema(specification)) throw new SchemaProblem(`${filename} must be a JSON or YAML object`)
    files.push({
      dir: dirname(filename),
      isEntrypoint: filename === entry,
      references: [...references],
      filename,
      specification: { ...specification },
    })
    waiting.push(...references)
  }
  return files
}

function readDocument(file: string): unknown {
  try {
    if (statSync(file).size > fileBytesMax) throw new SchemaProblem(`${file} has more than ${fileBytesMax} bytes`)
    return parse(readFileSync(file, 'utf8'), { maxAliasCount: 0 })
  } catch (error) {
    if (error instanceof SchemaProblem) throw error
    throw new SchemaProblem(`${file} cannot be read: ${describeError(error)}`)
  }
}

interface Place {
  readonly filename: string
  readonly folder: string
  readonly references: Set<string>
}

function absolute(node: unknown, place: Place): unknown {
  if (Array.isArray(node)) return node.map((one) => absolute(one, place))
  if (!isSchema(node)) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' ? absoluteReference(value, place) : absolute(value, place),
    ]),
  )
}

function absoluteReference(reference: string, { filename, folder, references }: Place): string {
  const [target = '', fragment = ''] = reference.split('#', 2)
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) return reference
  const file = target === '' ? filename : resolve(dirname(filename), decodeURIComponent(target))
  if (/^\.\.|^\//.test(relative(folder, file))) return reference
  if (file !== filename) references.add(file)
  return file === filename ? `#${fragment}` : `${file}#${fragment}`
}
