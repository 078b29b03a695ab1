import { isSchema, type Schema } from './parameterSchema.ts'

/**
 * Converts texts from query and path to the types in the schema: `52.5` to a number, `a,b` to an array. A text that
 * cannot be converted is unchanged, and the schema then refuses it. `names` are the parameters to convert. Absent:
 * all.
 */
export function readTexts(schema: Schema, input: unknown, names?: readonly string[]): unknown {
  if (!isSchema(input)) return input
  const properties = isSchema(schema['properties']) ? schema['properties'] : {}
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === 'string' && Object.hasOwn(properties, name) && names?.includes(name) !== false
        ? readText(properties[name], value)
        : value,
    ]),
  )
}

// Target and headers of a request have at most as many bytes, so only an argument of MCP can be longer.
const convertedCharactersMax = 16 * 1024
const decimal = /^-?(0|[1-9]\d{0,15})(\.\d{1,15})?$/

function readText(schema: unknown, text: string): unknown {
  const types = typesOf(schema)
  // Keep a text if texts are allowed: `1.50` would lose its last digit as a number.
  if (types.includes('string')) return text
  if ((types.includes('number') || types.includes('integer')) && decimal.test(text)) return Number(text)
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if (types.includes('null') && text === 'null') return null
  if (text.length > convertedCharactersMax) return text
  if (types.includes('array')) return readArray(schema, text)
  return types.includes('object') ? readJson(text) : text
}

function typesOf(schema: unknown): readonly unknown[] {
  if (!isSchema(schema)) return []
  const { type } = schema
  if (type !== undefined) return Array.isArray(type) ? type : [type]
  // Without `type`, derive the types from the values of `enum` or `const`.
  const values = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : []
  return values.map((value) => typeof value)
}

function readArray(schema: unknown, text: string): unknown {
  if (text.startsWith('[')) return readJson(text)
  const items = isSchema(schema) ? schema['items'] : undefined
  return text === '' ? [] : text.split(',').map((one) => readText(items, one))
}

// As in JSON bodies. The checks are recursive, and a query has room for thousands of levels.
const depthMax = 32
const jsonString = /"(?:[^"\\]|\\.)*"/g

function isDeep(text: string): boolean {
  let depth = 0
  for (const character of text.replaceAll(jsonString, '')) {
    if ('[{'.includes(character)) depth++
    else if (']}'.includes(character)) depth--
    if (depth > depthMax) return true
  }
  return false
}

function readJson(text: string): unknown {
  if (isDeep(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    // Return the text unchanged: the schema then refuses it and reports the expected type.
    return text
  }
}
