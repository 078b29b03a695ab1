import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { describeError } from '@tollbook/core/fault'
import { parse } from 'yaml'
import type { FileMistake, FilePath } from './fileMistake.ts'
import { patternLengthMax } from './patternCost.ts'

/** A JSON Schema without references. */
export type Schema = Readonly<Record<string, unknown>>

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const depthMax = 30
// A schema of this size takes Ajv about a second.
const nodesMax = 20_000
const bytesMax = 4 * 1024 * 1024

interface Place {
  /** File that holds the schema, for references relative to it. */
  readonly file: string
  /** The whole document of a reference such as `#/$defs/item`. */
  readonly root: unknown
}

/**
 * Replaces the references of a schema by their contents, so that any document can contain it. References lead into the
 * same document or to a local file, never to another host.
 */
export function inlineReferences(schema: Schema, file: string): Schema {
  let nodes = 0
  const inline = (node: unknown, place: Place, above: readonly string[]): unknown => {
    if (++nodes > nodesMax) throw new SchemaProblem(`has more than ${nodesMax} members`)
    if (above.length > depthMax) throw new SchemaProblem('is nested too deeply, or refers to itself')
    if (Array.isArray(node)) return node.map((one) => inline(one, place, [...above, '']))
    if (!isSchema(node)) return node
    // Names and anchors have no use once every reference is replaced, and two routes may share a document.
    const { $ref: reference, $defs: _definitions, $id: _name, $anchor: _anchor, $schema: _dialect, ...rest } = node
    const members = Object.entries(rest).map(([name, one]) => [name, inline(one, place, [...above, ''])] as const)
    const own = Object.fromEntries(members)
    if (reference === undefined) return own
    if (typeof reference !== 'string') throw new SchemaProblem('has a $ref that is not text')
    const target = `${place.file} ${reference}`
    if (above.includes(target)) throw new SchemaProblem(`refers to itself: ${reference}`)
    const found = follow(reference, place)
    const inlined = inline(found.node, found.place, [...above, target])
    if (!isSchema(inlined)) throw new SchemaProblem(`refers to ${reference}, which is not a schema`)
    return Object.keys(own).every((name) => annotations.has(name))
      ? { ...inlined, ...own }
      : { ...own, allOf: [inlined] }
  }
  const inlined = inline(schema, { file, root: schema }, [])
  return isSchema(inlined) ? inlined : schema
}

/** A schema cannot be used. The message completes "parameters". */
export class SchemaProblem extends Error {
  override readonly name = 'SchemaProblem'
}

const annotations = new Set(['title', 'description', 'default', 'examples', 'deprecated'])

function follow(reference: string, { file, root }: Place): { readonly node: unknown; readonly place: Place } {
  const [target = '', pointer = ''] = reference.split('#', 2)
  if (target !== '' && !/^\.{0,2}\/?[^:]+$/.test(target))
    throw new SchemaProblem(`refers to ${reference}; references lead into the same document or to a local file`)
  const otherFile = resolve(dirname(file), target)
  const place = target === '' ? { file, root } : { file: otherFile, root: readDocument(otherFile, reference) }
  const names = pointer.split('/').slice(1)
  let node = place.root
  for (const name of names) {
    const plain = decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')
    node = isSchema(node) && Object.hasOwn(node, plain) ? node[plain] : undefined
  }
  if (node === undefined) throw new SchemaProblem(`refers to ${reference}, which does not exist`)
  return { node, place }
}

/** Reads a JSON or YAML document. */
function readDocument(file: string, reference: string): unknown {
  try {
    const text = readFileSync(file, 'utf8')
    if (text.length > bytesMax) throw new SchemaProblem(`refers to ${reference}, which has more than 4 MiB`)
    return parse(text)
  } catch (error) {
    if (error instanceof SchemaProblem) throw error
    throw new SchemaProblem(`refers to ${reference}, which cannot be read: ${describeError(error)}`)
  }
}

/**
 * Closes the schema of all parameters: what it does not list is refused. A schema that combines others is closed over
 * all of them.
 */
export function closedSchema(schema: Schema): Schema {
  const isCombined = ['allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'].some((name) => name in schema)
  const isClosed = 'additionalProperties' in schema || 'unevaluatedProperties' in schema
  const closing = isClosed ? {} : { [isCombined ? 'unevaluatedProperties' : 'additionalProperties']: false }
  return { type: 'object', ...schema, ...closing }
}

/** Returns the mistake of each pattern that strangers could make expensive. */
export function findSlowPatterns(schema: unknown, at: FilePath): readonly FileMistake[] {
  if (Array.isArray(schema)) return schema.flatMap((one, index) => findSlowPatterns(one, [...at, index]))
  if (!isSchema(schema)) return []
  return Object.entries(schema).flatMap(([name, value]) => {
    const path = [...at, name]
    if (name === 'pattern' && typeof value === 'string') return slowPattern(value, path)
    const names = name === 'patternProperties' && isSchema(value) ? Object.keys(value) : []
    return [...names.flatMap((one) => slowPattern(one, [...path, one])), ...findSlowPatterns(value, path)]
  })
}

function slowPattern(pattern: string, path: FilePath): readonly FileMistake[] {
  const found = patternLengthMax(pattern)
  return typeof found === 'number' ? [] : [{ path, message: found.problem }]
}
