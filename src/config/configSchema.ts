import { z } from 'zod'
import type { GivenVariables } from './variables.ts'

interface Leaf {
  readonly variable: string
  readonly path: string
}

const pathOf = (keys: readonly PropertyKey[]) => keys.map(String).join('.')

/** Returns the variables of a schema with their paths. One variable can have several paths. */
export function leavesOf(schema: z.core.$ZodType, keys: readonly string[] = []): readonly Leaf[] {
  const variable = variableOf(schema)
  if (variable !== undefined) return [{ variable, path: pathOf(keys) }]
  return membersOf(schema).flatMap(([key, member]) => leavesOf(member, [...keys, key]))
}

/** Undefined for an issue about several variables. */
export function variableAt(leaves: readonly Leaf[], keys: readonly PropertyKey[]): string | undefined {
  const path = `${pathOf(keys)}.`
  return leaves.find((leaf) => path.startsWith(`${leaf.path}.`))?.variable
}

export function inputOf(schema: z.core.$ZodType, given: GivenVariables): unknown {
  const variable = variableOf(schema)
  if (variable !== undefined) return given[variable]
  return Object.fromEntries(membersOf(schema).map(([key, member]) => [key, inputOf(member, given)]))
}

function variableOf(schema: z.core.$ZodType): string | undefined {
  const name = z.globalRegistry.get(schema)?.['variable']
  return typeof name === 'string' ? name : undefined
}

/** The schema may be wrapped in a transformation. */
function membersOf(schema: z.core.$ZodType): readonly [string, z.core.$ZodType][] {
  if (schema instanceof z.core.$ZodPipe) return membersOf(schema._zod.def.in)
  return schema instanceof z.core.$ZodObject ? Object.entries(schema._zod.def.shape) : []
}
