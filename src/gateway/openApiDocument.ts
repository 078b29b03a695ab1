import { dirname, resolve } from 'node:path'
import { upgrade } from '@scalar/openapi-parser'
import {
  childOf,
  inlineReferences,
  isSchema,
  type PlacedNode,
  readDocument,
  type Schema,
  SchemaProblem,
} from './parameterSchema.ts'
import { unknownName } from './fileMistake.ts'

export interface Operation {
  readonly method: string
  readonly path: string
  /**
   * Parameters of the path item, followed by the parameters of the operation. A later parameter replaces an earlier
   * parameter with the same name and place.
   */
  readonly parameters: readonly unknown[]
  readonly requestBody: unknown
  readonly summary: string | undefined
  readonly answerTypes: readonly string[]
}

const versions = /^3\.[01]\.\d+$/

/**
 * Reads a document of OpenAPI 3.0 or 3.1. Referenced files must be in the document's folder, because the document is
 * often from another author. Nothing is fetched from the network.
 */
export function readOpenApi(name: string) {
  const file = resolve(name)
  const root = readDocument(file, file)
  if (!isSchema(root)) throw new SchemaProblem(`${file} must be a JSON or YAML object`)
  const version = root['openapi']
  if (typeof version !== 'string' || !versions.test(version))
    throw new SchemaProblem(`must be OpenAPI 3.0 or 3.1 (got ${JSON.stringify(version ?? root['swagger'] ?? null)})`)
  const { title } = memberOf(root, 'info')
  const paths = childOf({ node: root, place: { file, root, folder: dirname(file), documents: new Map() } }, 'paths')
  return {
    title: typeof title === 'string' ? title : 'api',
    serverUrl: serverUrlOf(root['servers']),
    /** The operation is in the form of OpenAPI 3.1, without references. */
    operation: (wanted: string) => findOperation(paths, wanted, version),
  }
}

// The methods that a route of the products file can have.
const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

function findOperation(paths: PlacedNode, name: string, version: string): Operation {
  const [, method = '', path = ''] = /^([A-Za-z]+) (\/\S*)$/.exec(name) ?? []
  const verb = methods.find((one) => one === method.toLowerCase())
  try {
    const item = childOf(paths, path)
    const found = verb === undefined ? item : childOf(item, verb)
    if (verb === undefined || !isSchema(found.node)) throw new SchemaProblem(unknownName(name, namesOf(paths)))
    const { node } = found
    // Upgrade only what the route needs, because the schemas of answers can be invalid or endlessly recursive.
    const own = {
      parameters: [item, found].flatMap((one) => listOf(inlined(one, 'parameters'))),
      requestBody: inlined(found, 'requestBody') ?? {},
    }
    const upgraded = upgrade({
      openapi: version,
      info: { title: '', version: '' },
      paths: { [path]: { [verb]: own } },
    })
    const operation = memberOf(upgraded.specification, 'paths', path, verb)
    return {
      method: verb.toUpperCase(),
      path,
      parameters: listOf(operation['parameters']),
      requestBody: operation['requestBody'],
      summary: [node['summary'], node['description'], node['operationId']].find((text) => typeof text === 'string'),
      answerTypes: answerTypesOf(childOf(found, 'responses')),
    }
  } catch (error) {
    if (!(error instanceof SchemaProblem)) throw error
    throw new SchemaProblem(`operation "${name}" ${error.message}`)
  }
}

function inlined({ node, place }: PlacedNode, name: string): unknown {
  const member = isSchema(node) ? node[name] : undefined
  return inlineReferences({ [name]: member }, place)[name]
}

function namesOf(paths: PlacedNode): readonly string[] {
  return Object.keys(isSchema(paths.node) ? paths.node : {}).flatMap((path) => {
    const item = childOf(paths, path).node
    return methods.flatMap((method) => (isSchema(item) && method in item ? [`${method.toUpperCase()} ${path}`] : []))
  })
}

function memberOf(node: unknown, ...names: readonly string[]): Schema {
  const found = names.reduce<unknown>((at, name) => (isSchema(at) ? at[name] : undefined), node)
  return isSchema(found) ? found : {}
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function answerTypesOf(responses: PlacedNode): readonly string[] {
  const statuses = Object.keys(isSchema(responses.node) ? responses.node : {})
  const sold = statuses.filter((status) => status.startsWith('2'))
  return [...new Set(sold.flatMap((status) => Object.keys(memberOf(childOf(responses, status).node, 'content'))))]
}

/** Returns the address of the first server, without a slash at its end. Undefined unless it is an absolute HTTP address. */
function serverUrlOf(servers: unknown): string | undefined {
  const [server] = listOf(servers)
  if (!isSchema(server) || typeof server['url'] !== 'string') return undefined
  const filled = server['url'].replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const standard = memberOf(server, 'variables', name)['default']
    return typeof standard === 'string' ? standard : whole
  })
  return /^https?:\/\/[^{}]+$/.test(filled) ? filled.replace(/\/+$/, '') : undefined
}
