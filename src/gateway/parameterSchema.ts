import { readFileSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { describeError } from '@tollbook/core/fault'
import { parse } from 'yaml'
import type { FileMistake, FilePath } from './fileMistake.ts'

/** A JSON object, usually a JSON Schema. `compileSchema` needs a schema whose references are inlined. */
export type Schema = Readonly<Record<string, unknown>>

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export class SchemaProblem extends Error {
  override readonly name = 'SchemaProblem'
}

const depthMax = 64
// Maximum of nodes in a schema, because Ajv needs about a second to compile a schema of this size.
const nodesMax = 20_000
const bytesMax = 16 * 1024 * 1024

/** The document that contains a node, which is the base of the node's references. */
export interface Place {
  readonly file: string
  /** The whole document, to resolve a reference such as `#/$defs/item`. */
  readonly root: unknown
  /** Folder that must contain all referenced files. Undefined: any local file is allowed. */
  readonly folder?: string | undefined
  /** Documents that were read, by their paths, because a document may refer to the same file many times. */
  readonly documents: Map<string, unknown>
}

export interface PlacedNode {
  readonly node: unknown
  readonly place: Place
}

const maps = new Set(['properties', 'patternProperties', 'dependentSchemas'])
// Keywords whose values are data. References in them are not replaced, because a name such as `$ref` has no special
// meaning there.
const literals = new Set(['const', 'default', 'enum', 'example', 'examples'])
// Keywords that only describe. Next to `$ref` they replace those of the target, and other keywords apply in addition.
const annotations = new Set(['title', 'summary', 'description', 'default', 'examples', 'deprecated'])

/**
 * Replaces the references of a schema by their targets, so that any document can contain the schema. A reference to
 * another host is refused.
 */
export function inlineReferences(schema: Schema, start: Place): Schema {
  let nodes = 0
  const inline = ({ node, place }: PlacedNode, above: readonly string[], isMap = false): unknown => {
    if (++nodes > nodesMax) throw new SchemaProblem(`has more than ${nodesMax} members`)
    if (above.length > depthMax) throw new SchemaProblem('is nested too deeply, or refers to itself')
    const deeper = [...above, '']
    if (Array.isArray(node)) return node.map((one) => inline({ node: one, place }, deeper))
    if (!isSchema(node)) return node
    const inlineMember = ([name, member]: [string, unknown]) =>
      !isMap && literals.has(name)
        ? [name, member]
        : [name, inline({ node: member, place }, deeper, !isMap && maps.has(name))]
    if (isMap) return Object.fromEntries(Object.entries(node).map(inlineMember))
    // Drop identifiers and anchors. They have no use without references, and would conflict if two routes use the same
    // document.
    const { $ref: reference, $defs: _definitions, $id: _name, $anchor: _anchor, $schema: _dialect, ...rest } = node
    const own = Object.fromEntries(Object.entries(rest).map(inlineMember))
    if (reference === undefined) return own
    if (typeof reference !== 'string') throw new SchemaProblem('has a $ref that is not text')
    const target = `${place.file} ${reference}`
    if (above.includes(target)) throw new SchemaProblem(`refers to itself: ${reference}`)
    const inlined = inline(follow(reference, place), [...above, target])
    if (!isSchema(inlined)) throw new SchemaProblem(`refers to ${reference}, which is not a schema`)
    return Object.keys(own).every((name) => annotations.has(name))
      ? { ...inlined, ...own }
      : { ...own, allOf: [inlined] }
  }
  const inlined = inline({ node: schema, place: start }, [])
  return isSchema(inlined) ? inlined : schema
}

/**
 * Returns a member of the node, after following its references. The node in the result is undefined if the member does
 * not exist.
 */
export function childOf({ node, place }: PlacedNode, name: string): PlacedNode {
  const member = isSchema(node) && Object.hasOwn(node, name) ? node[name] : undefined
  let child: PlacedNode = { node: member, place }
  for (let hop = 1; hop <= depthMax; hop++) {
    const reference = isSchema(child.node) ? child.node['$ref'] : undefined
    if (typeof reference !== 'string') return child
    child = follow(reference, child.place)
  }
  throw new SchemaProblem(`refers to itself at ${name}`)
}

function follow(reference: string, from: Place): PlacedNode {
  const { file, folder, documents } = from
  const [target = '', pointer = ''] = reference.split('#', 2)
  if (target !== '' && !/^\.{0,2}\/?[^:/][^:]*$/.test(target))
    throw new SchemaProblem(`refers to ${reference}; references lead into the same document or to a local file`)
  const otherFile = resolve(dirname(file), decoded(target, reference))
  if (folder !== undefined && target !== '' && /^\.\.|^\//.test(relative(folder, otherFile)))
    throw new SchemaProblem(`refers to ${reference}, which is not in the folder of the document`)
  if (target !== '' && !documents.has(otherFile))
    documents.set(otherFile, readDocument(otherFile, `refers to ${reference}, which`))
  const place = target === '' ? from : { ...from, file: otherFile, root: documents.get(otherFile) }
  let node = place.root
  for (const name of pointer.split('/').slice(1)) {
    const plain = decoded(name, reference).replaceAll('~1', '/').replaceAll('~0', '~')
    node = isSchema(node) && Object.hasOwn(node, plain) ? node[plain] : undefined
  }
  if (node === undefined) throw new SchemaProblem(`refers to ${reference}, which does not exist`)
  return { node, place }
}

function decoded(text: string, reference: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new SchemaProblem(`refers to ${reference}, which is not percent-encoded UTF-8`, { cause })
  }
}

/** Reads a document in JSON or YAML. Throws a `SchemaProblem` whose message begins with `subject`. */
export function readDocument(file: string, subject: string): unknown {
  try {
    if (statSync(file).size > bytesMax) throw new SchemaProblem(`${subject} has more than ${bytesMax} bytes`)
    return parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof SchemaProblem) throw error
    throw new SchemaProblem(`${subject} cannot be read: ${describeError(error)}`)
  }
}

/**
 * Makes the schema refuse unlisted parameters, unless the schema itself states which of them it allows. If schemas are
 * combined, `additionalProperties` would refuse the parameters of the combined schemas.
 */
export function closedSchema(schema: Schema): Schema {
  const isCombined = ['allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'].some((name) => name in schema)
  const isClosed = 'additionalProperties' in schema || 'unevaluatedProperties' in schema
  const closing = isClosed ? {} : { [isCombined ? 'unevaluatedProperties' : 'additionalProperties']: false }
  return { type: 'object', ...schema, ...closing }
}

/**
 * Finds regular expressions, which are not supported. They would run on the texts of strangers, and JavaScript's engine
 * can take exponential time.
 */
export function findPatterns(schema: unknown, at: FilePath, isMap = false): readonly FileMistake[] {
  if (Array.isArray(schema)) return schema.flatMap((one, index) => findPatterns(one, [...at, index]))
  if (!isSchema(schema)) return []
  return Object.entries(schema).flatMap(([name, value]) => {
    const path = [...at, name]
    if (!isMap && literals.has(name)) return []
    const isPattern = !isMap && (name === 'pattern' || name === 'patternProperties')
    return isPattern ? [{ path, message: noPatterns }] : findPatterns(value, path, !isMap && maps.has(name))
  })
}

const noPatterns = 'is a regular expression, which is not supported; use `enum`, `format` or `maxLength`'
